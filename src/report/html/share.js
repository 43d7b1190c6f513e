/* share.js - the result as a picture of 1200 × 630: title and machine, verdict, key numbers, the strip. PNG from a canvas (the page's policy allows no
 * images), SVG from the same painter; to the clipboard or into a file. */

const CARD = {width: 1200, height: 630, margin: 48};

/* Lines of at most `room` px. */
function wrapped(text, room, size, weight) {
    const lines = [''];
    text.split(/\s+/).forEach((word) => {
        const longer = (lines[lines.length - 1] + ' ' + word).trim();
        if (measure(longer, fontOf(size, weight)) <= room || !lines[lines.length - 1]) lines[lines.length - 1] = longer;
        else lines.push(word);
    });
    return lines;
}
function textOf(selector) {
    const element = find(selector);
    return element ? safe(element.textContent.replace(/\s+/g, ' ').trim()) : '';
}
function paintCard(p) {
    const {width, height, margin} = CARD, room = width - 2 * margin;
    let y = margin + 6;
    p.rect(0, 0, width, height, ink('ground'), 1);
    const title = textOf('h1'), wide = Math.min(room * 0.6, p.measure(title, 26, 660));
    p.label(margin, y, room * 0.6, [title], ink('ink'), 26, 660);
    p.label(margin + wide + 20, y + 2, room - wide - 20, [textOf('.subtitle')], ink('soft'), 17);
    y += 48;
    const lines = wrapped(textOf('.top .lead'), room, 32, 400);
    (lines.length > 3 ? lines.slice(0, 2).concat(lines.slice(2).join(' ')) : lines).forEach((line) => { p.label(margin, y, room, [line], ink('ink'), 32); y += 42; });
    y += 6;
    let x = margin;
    all('.kpis > div').forEach((kpi) => {
        const value = safe(find('.num', kpi) ? find('.num', kpi).textContent : find('dd', kpi).textContent), name = safe(find('dt', kpi).textContent);
        const own = p.measure(value, 20, 640), next = p.measure(name, 16);
        if (x + own + next + 8 > width - margin) return;
        p.label(x, y, own + 2, [value], ink('ink'), 20, 640);
        p.label(x + own + 8, y + 1, next + 2, [name], ink('soft'), 16);
        x += own + next + 44;
    });
    y += 34;
    if (strip.canvas) {
        const by = coloring(), bottom = height - margin - 26, rows = stripRows(Math.max(60, bottom - y - stripRows(0).reduce((most, row) => Math.max(most, row.y + row.height), 0)));
        const [low, high] = windowOf();
        paintStrip(p, margin, y, room, rows, low, high);
        x = margin;
        by.names.forEach((name, i) => {
            p.rect(x, height - margin - 8, 14, 14, ink(by.inks[i]), 1);
            x += 18;
            if (name) { p.label(x, height - margin, 200, [name], ink('soft'), 14); x += p.measure(name, 14) + (by.scale ? 6 : 16); }
        });
        p.label(x + 8, height - margin, 300, [by.title], ink('soft'), 14);
    }
    p.label(width - margin - p.measure('assay', 16, 640), height - margin, 80, ['assay'], ink('soft'), 16, 640);
}
function cardCanvas() {
    const canvas = make('canvas');
    canvas.width = CARD.width;
    canvas.height = CARD.height;
    paintCard(canvasPainter(canvas.getContext('2d')));
    return new Promise((done) => canvas.toBlob(done, 'image/png'));
}
function cardSvg() {
    const parts = [];
    paintCard(svgPainter(parts));
    return '<svg xmlns="http://www.w3.org/2000/svg" width="' + CARD.width + '" height="' + CARD.height + '" viewBox="0 0 ' + CARD.width + ' ' + CARD.height +
        '" font-family="' + FONT.replace(/"/g, '\'') + '">\n' + parts.join('\n') + '\n</svg>\n';
}
function startSharing(tools) {
    if (!strip.canvas) return;
    const said = make('output', {'class': 'note', 'aria-live': 'polite'}), say = (text) => { said.textContent = text; setTimeout(() => { said.textContent = ''; }, 4000); };
    const tried = (work, done) => work().then(() => say(done), () => say('The browser does not allow it here: save it instead.'));
    const actions = [
        ['Copy as PNG', () => tried(async () => navigator.clipboard.write([new ClipboardItem({'image/png': await cardCanvas()})]), 'Copied.')],
        ['Copy as SVG', () => tried(async () => navigator.clipboard.writeText(cardSvg()), 'Copied.')],
        ['Save PNG', async () => save(named('card.png'), 'image/png', await cardCanvas())],
        ['Save SVG', () => save(named('card.svg'), 'image/svg+xml', [cardSvg()])],
        ['Copy link', () => { flushHash(); tried(async () => navigator.clipboard.writeText(location.href), 'Copied.'); }]];
    const menu = make('details', {'class': 'menu', id: 'share'}, [make('summary', {}, ['Share']), make('div', {}, actions.map((action) => button(action[0], action[1])).concat(said))]);
    tools.prepend(menu);
}

/* --- code and commands ----------------------------------------------------------------------------------------------- */

function startCopies() {
    all('pre.command').forEach((code) => {
        const box = make('div', {'class': 'copied'}), press = button('Copy', async () => {
            try {
                await navigator.clipboard.writeText(code.textContent);
                press.textContent = 'Copied';
            } catch (error) {
                press.textContent = 'Select it instead';
            }
            setTimeout(() => { press.textContent = 'Copy'; }, 2000);
        });
        code.replaceWith(box);
        box.append(code, press);
    });
}
