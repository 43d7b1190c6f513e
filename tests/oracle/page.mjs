// page.mjs - the report's page in a real browser: Chromium, headless, through playwright-core.
//
//   node page.mjs PLAYWRIGHT AXE CHROMIUM check FILE…         what every page must hold
//   node page.mjs PLAYWRIGHT AXE CHROMIUM use RUN.html        selection, zoom, range, table, filter, keys, address, sharing, files, plots
//   node page.mjs PLAYWRIGHT AXE CHROMIUM saves FILE…         what is saved is what --format csv prints
//   node page.mjs PLAYWRIGHT AXE CHROMIUM shows HOSTILE.html  names that mean harm are inert
//   node page.mjs PLAYWRIGHT AXE CHROMIUM graph RUN.html      the network: opening, keys, selection, address; no box upon another
//   node page.mjs PLAYWRIGHT AXE CHROMIUM difference DIFF.html
//   node page.mjs PLAYWRIGHT AXE CHROMIUM stops FILE MOST     tab stops of all tabs together
//   node page.mjs PLAYWRIGHT AXE CHROMIUM screens FILE MOST   height of each tab in screens of 1440 by 900; prints JSON
//   node page.mjs PLAYWRIGHT AXE CHROMIUM time FILE LIMIT_MS  until it can be used; least of 3; prints JSON
//   node page.mjs PLAYWRIGHT AXE CHROMIUM floors FILE PICTURE_MS SELECT_MS FRAMES  first picture, selection, frames a second; prints JSON
//   node page.mjs PLAYWRIGHT AXE CHROMIUM timeline…           see timeline.mjs
//   node page.mjs PLAYWRIGHT AXE CHROMIUM shot FILE[#HASH] OUT.png WIDTH light|dark [SELECTOR|top]
//   node page.mjs PLAYWRIGHT AXE CHROMIUM shots FILE OUT      first screens at 1440, 768 and 390 px in both themes: OUT-1440-light.png …
//
// PLAYWRIGHT, AXE: the folders of the packages. Every request that is no file of the page's own, every message on the console that is an
// error and every violation of the page's policy is a failure, in all of them. Status 0, or 1 with the failures.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';

const [playwright, axe, executablePath, verb, ...rest] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const faults = [];
let checks = 0;
const note = (text) => { faults.push(text); console.log(`FAIL ${text}`); };
const check = (holds, text) => { checks++; if (!holds) note(text); };
const equal = (a, b, text) => check(a === b, `${text}: ${JSON.stringify(a)}, expected ${JSON.stringify(b)}`);

const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

async function open(file, options = {}, hash = '') {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    const address = file === 'about:blank' ? 'file:' : pathToFileURL(file).href;
    page.on('request', (request) => {
        const to = request.url();
        if (!to.startsWith(address) && !to.startsWith('blob:')) note(`${file} asks for ${to}`);
    });
    page.on('console', (message) => { if (message.type() === 'error') note(`${file}: console: ${message.text()}`); });
    page.on('pageerror', (error) => note(`${file}: ${error.message}`));
    if (options.javaScriptEnabled !== false)
        await page.addInitScript(() => {
            window.violations = [];
            document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.sourceFile}:${event.lineNumber}`));
        });
    await page.goto(file === 'about:blank' ? file : address + hash, { waitUntil: 'load', timeout: 120000 });
    page.done = async () => {
        if (options.javaScriptEnabled !== false)
            for (const violation of await page.evaluate(() => window.violations)) note(`${file}: policy: ${violation}`);
        await context.close();
    };
    return page;
}
const ready = (page) => page.waitForSelector('html[data-ready="on"]', { timeout: 60000 });

const tabsOf = async (page) => { const names = await page.$$eval('nav.tabs a', (links) => links.map((link) => link.getAttribute('href').slice(5))); return names.length ? names : ['']; };

// --- what every page must hold --------------------------------------------------------------------------

async function legible(page, where) { // words of a picture are large enough to read
    const least = await page.evaluate(() => Math.min(99, ...Array.from(document.querySelectorAll('figure svg')).filter((svg) => svg.getBoundingClientRect().width > 0)
        .map((svg) => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)));
    check(least >= 9, `${where}: words of ${least.toFixed(1)} px in a picture`);
}

async function fits(file) {
    for (const width of [320, 390, 768, 1440]) {
        const page = await open(file, { viewport: { width, height: 844 } });
        await ready(page);
        for (const tab of await tabsOf(page)) {
        await page.evaluate((name) => { location.hash = `tab=${name}`; }, tab);
        await page.waitForTimeout(50);
        const wide = await page.evaluate(() => {
            const room = document.documentElement.clientWidth, found = [];
            if (document.documentElement.scrollWidth <= room) return '';
            document.querySelectorAll('main *, header *, footer *').forEach((element) => {
                const box = element.getBoundingClientRect();
                if (box.right > room + 1 && !element.closest('.scroll, .picture, nav, pre, .hidden, .tip, .u-wrap')) found.push(`${element.tagName}.${element.className}`);
            });
            return `${document.documentElement.scrollWidth} px: ${found.slice(0, 4).join(' ')}`;
        });
        equal(wide, '', `${file} at ${width} px, ${tab}, is wider than the screen`);
        await legible(page, `${file} at ${width} px, ${tab}`);
        }
        await page.done();
    }
}

async function names(file) { // at every width the table of layers says which layer it is, and no head is cut
    const page = await open(file);
    await ready(page);
    for (const width of [1440, 1366, 1280, 1200, 1100, 1024, 961, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(50);
        const heads = await page.$$eval('.tall thead th', (all) => all.filter((head) => head.offsetHeight).map((head) => [head.className, head.textContent, head.getBoundingClientRect().width, head.scrollWidth - head.clientWidth]));
        for (const [kind, title, wide, cut] of heads) {
            if (/\bname\b/.test(kind)) check(wide >= 96, `${file} at ${width} px: ${wide.toFixed(0)} px for the names of layers`);
            check(cut <= 0, `${file} at ${width} px: the head "${title}" is cut by ${cut} px`);
        }
    }
    await page.done();
}

async function odd(file) { // an address that nobody made, with names that every object has
    for (const hash of ['#by=toString&color=constructor&sort=valueOf.asc', '#toString=1&tab=__proto__', '#sel=-1&zoom=9-3ms&range=a-b', '#q=%E0%A4%A&open=toString']) {
        const page = await open(file, {}, hash);
        await ready(page);
        check(await page.$$eval('main .tab', (all) => all.length === 0 || all.some((tab) => tab.offsetHeight > 0)), `${file}${hash}: nothing shows`);
        await page.done();
    }
}

async function answers(file) { // the verdict is one sentence, or two, of at most 20 words
    const page = await open(file), verdict = (await page.$$eval('.top .lead', (all) => all.map((item) => item.textContent))).join(' ').trim();
    const words = verdict.split(/\s+/).length;
    check(verdict && words <= 20, `${file}: a verdict of ${words} words: ${verdict}`);
    await page.done();
}

async function accessible(file) {
    for (const colorScheme of ['light', 'dark']) {
        const page = await open(file, { colorScheme });
        await ready(page);
        await page.evaluate(() => document.querySelectorAll('main details').forEach((element) => { element.open = true; }));
        await page.evaluate(readFileSync(`${axe}/axe.min.js`, 'utf8'));
        for (const tab of await tabsOf(page)) {
            await page.evaluate((name) => { location.hash = name ? `tab=${name}` : ''; }, tab);
            await page.evaluate(async () => { // so that what is drawn when it comes near is drawn
                for (const figure of document.querySelectorAll('figure')) if (figure.offsetHeight) { figure.scrollIntoView(); await new Promise((next) => setTimeout(next, 30)); }
            });
            const row = page.locator('.tall tbody tr[data-l]').first();
            if (await row.isVisible()) await row.click(); // the inspector too
            const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
            check(result.passes.length > 10, `${file}, ${tab}: axe-core looked at ${result.passes.length} things`);
            for (const fault of result.violations)
                note(`${file}, ${tab}, ${colorScheme}: ${fault.id}: ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${(node.any[0] || {}).message || ''}`).join(' | ')}`);
        }
        await page.done();
    }
}

async function without(file) { // without JavaScript: tabs are sections in order, everything shows
    const plain = await open(file, { javaScriptEnabled: false });
    for (const width of [390, 768, 1440]) {
        await plain.setViewportSize({ width, height: 900 });
        await legible(plain, `${file} at ${width} px without JavaScript`);
    }
    const counted = (page) => page.$$eval('main .tab', (tabs) => tabs.map((tab) => [tab.id, tab.querySelectorAll('table:not(.tall table)').length, tab.querySelectorAll('figure').length]).join(';'));
    // $$eval is the tool's own script, not the page's
    const tabs = await plain.$$eval('main .tab', (all) => all.filter((tab) => tab.getBoundingClientRect().height < 20).map((tab) => tab.id));
    equal(tabs.join(' '), '', `${file} without JavaScript: tabs that do not show`);
    const flat = await plain.$$eval('main figure, main .scroll > table', (all) => all.filter((item) => {
        if (item.closest('details:not([open])')) return false;
        const part = item.tagName === 'FIGURE' ? Array.from(item.querySelectorAll('svg')).map((svg) => svg.getBoundingClientRect().height).reduce((a, b) => Math.max(a, b), 0)
            : item.getBoundingClientRect().height;
        return part < 20;
    }).length);
    equal(flat, 0, `${file} without JavaScript: pictures or tables that do not show`);
    const now = await counted(plain);
    await plain.done();
    const page = await open(file);
    await ready(page);
    equal(now, await counted(page), `${file}: tables and pictures without JavaScript`);
    await page.done();
}

async function prints(file) {
    const page = await open(file, { colorScheme: 'dark' });
    await ready(page);
    const pdf = (await page.pdf({ format: 'A4', margin: { top: '12mm', bottom: '12mm', left: '12mm', right: '12mm' } })).toString('latin1');
    const pages = (pdf.match(/\/Type\s*\/Page[^s]/g) || []).length;
    check(pages > 0, `${file}: the print has ${pages} pages`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 703, height: 1000 }); // A4 less its margins, at 96 px an inch
    const cut = await page.$$eval('table', (tables) => tables.filter((table) => table.getBoundingClientRect().width > 0 &&
        table.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((table) => (table.caption || {}).textContent));
    equal(cut.join('; '), '', `${file}: tables that paper would cut`);
    const dark = await page.evaluate(() => getComputedStyle(document.body).color);
    equal(dark, 'rgb(0, 0, 0)', `${file}: paper's ink`);
    const shown = await page.$$eval('main .tab', (all) => all.every((tab) => tab.getBoundingClientRect().height > 20));
    check(shown, `${file}: a tab is not on paper`);
    check(await page.$$eval('figure', (all) => all.every((figure) => figure.closest('details:not([open])') || Array.from(figure.querySelectorAll('svg')).some((svg) => svg.getBoundingClientRect().height > 20))), `${file}: a picture is not on paper`);
    await page.done();
    return pages;
}

// --- what a reader does -----------------------------------------------------------------------------------

async function download(page, label, within = '#downloads') {
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(`${within} button:text-is("${label}")`)]);
    return [file.suggestedFilename(), await file.path()];
}
// What the page's data is unpacked: as --json prints it.
const dataOf = (page) => page.evaluate(() => {
    const cells = (column, rows) => {
        let at = 0, before = '';
        if (Array.isArray(column)) return column.map(unpack);
        if ('~all' in column) return Array(rows).fill(unpack(column['~all']));
        if (column['~of']) return column['~at'].map((i) => unpack(column['~of'][i]));
        if (column['~list']) { const items = cells(column['~items'], column['~list'].reduce((a, b) => a + b, 0)); return column['~list'].map((n) => items.slice(at, at += n)); }
        return Array.from({ length: rows }, (none, i) => before = before.slice(0, column['~front'][2 * i]) + column['~front'][2 * i + 1]);
    };
    const unpack = (value) => {
        if (Array.isArray(value)) return value.map(unpack);
        if (!value || typeof value !== 'object') return value;
        const keys = Object.keys(value);
        if (keys[0] !== '~rows') return Object.fromEntries(keys.map((key) => [key, unpack(value[key])]));
        const columns = keys.slice(1).map((key) => [key, cells(value[key], value['~rows'])]);
        return Array.from({ length: value['~rows'] }, (none, i) => Object.fromEntries(columns.map((column) => [column[0], column[1][i]])));
    };
    return unpack(JSON.parse(assayText('assay-data')));
});
// The address follows after some milliseconds, or when the page is left.
const addressOf = (page) => page.evaluate(() => { dispatchEvent(new Event('pagehide')); return location.hash; });
const hashOf = async (page) => Object.fromEntries((await addressOf(page)).slice(1).split('&').filter(Boolean).map((part) => part.split('=').map(decodeURIComponent)));
const rows = (page, key) => page.$$eval(`.tall tbody tr[data-l] .${key}`, (cells) => cells.map((cell) => cell.textContent));
const indices = (page) => page.$$eval('.tall tbody tr[data-l]', (all) => all.map((row) => Number(row.dataset.l)));
const answered = async (page) => Number((await page.textContent('.answer')).split(' ')[0].replace(/,/g, ''));
const chosen = (page) => page.$$eval('.tall tbody tr.sel', (all) => all.map((row) => row.dataset.l).join());
const seconds = (text) => { const [number, unit] = text.split(' '); return text === '—' ? NaN : parseFloat(number) * { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1 }[unit]; };
const ordered = (values, sign) => values.every((value, i) => !i || sign * (value - values[i - 1]) >= 0);
const onStrip = async (page, x, y) => { const box = await page.locator('.canvas .base').boundingBox(); return [box.x + box.width * x, box.y + y]; };

async function sorts(page) {
    const known = async (key) => (await rows(page, key)).map(seconds).filter((value) => !Number.isNaN(value));
    const head = (key) => page.locator(`.tall thead th.${key}`), judged = await head('lost').count();
    check(ordered(await known(judged ? 'lost' : 'time'), -1), 'the layers that lose most time come first, or the longest');
    equal(await head(judged ? 'lost' : 'time').getAttribute('aria-sort'), 'descending', 'the heading says so');
    await head('time').locator('button').click();
    const first = await head('time').getAttribute('aria-sort');
    check(ordered(await known('time'), first === 'ascending' ? 1 : -1), `sorted by time, ${first}`);
    await head('time').locator('button').click();
    check(await head('time').getAttribute('aria-sort') !== first, 'a second press turns it');
    equal((await hashOf(page)).sort.split('.')[0], 'time', 'the address has the order');
    await head('op').locator('button').click();
    const ops = (await rows(page, 'op')).map((text) => text.replace(/\+\d+$/, ''));
    check(ops.length > 2 && ops.every((op, i) => !i || op.localeCompare(ops[i - 1], 'en', { numeric: true }) >= 0), 'sorted by operator');
    await page.evaluate(() => { location.hash = ''; });
}

async function filters(page, data) {
    const layers = data.trials[0].layers, op = layers.find((layer) => layer.op).op;
    await page.keyboard.press('/');
    equal(await page.evaluate(() => document.activeElement.id), 'layer-filter', '/ goes to the filter');
    await page.keyboard.type(op);
    const wanted = layers.filter((layer) => [layer.name, layer.op, layer.provider, layer.bound, layer.method, layer.inputs, layer.outputs].concat(layer.from || []).join('\n').toLowerCase().includes(op.toLowerCase()));
    equal(await answered(page), wanted.length, `layers that match ${op}`);
    const answer = await page.textContent('.answer');
    check(answer.startsWith(`${wanted.length} layer`), `the filter answers ${answer}`);
    const time = wanted.reduce((sum, layer) => sum + (layer.time_us || 0), 0) / 1e6;
    check(Math.abs(seconds(answer.split(' · ')[1]) / time - 1) < 0.01, `its time is ${answer}, ${time}`);
    equal((await hashOf(page)).q, op, 'the filter is in the address');
    await page.fill('#layer-filter', 'no such layer at all');
    equal((await indices(page)).length, 0, 'nothing matches');
    await page.keyboard.press('Escape');
    equal(await answered(page), layers.length, 'all of them again');
    equal((await hashOf(page)).q, undefined, 'and no filter in the address');
}

async function modes(page, data) {
    const layers = data.trials[0].layers, ops = new Set(layers.map((layer) => layer.op));
    const groups = () => page.$$eval('.tall tbody tr.sum', (all) => all.map((row) => [row.querySelector('.index').textContent, row.querySelector('.time').textContent]));
    await page.click('[data-by="op"]');
    equal((await groups()).length, ops.size, 'a row for each operator');
    equal((await groups()).reduce((sum, group) => sum + parseInt(group[0], 10), 0), layers.length, 'their layers add up');
    equal((await hashOf(page)).by, 'op', 'the address has the mode');
    const toggle = page.locator('.tall tbody tr.sum button').first();
    equal(await toggle.getAttribute('aria-expanded'), 'false', 'a group is closed');
    await toggle.click();
    const first = parseInt((await groups())[0][0], 10);
    const opened = (await indices(page)).length;
    check(first > 200 ? opened > 0 : opened === first, `opened it has its ${first} layers: ${opened}`);
    equal(await page.locator('.tall tbody tr.sum button').first().getAttribute('aria-expanded'), 'true', 'and says that it is open');
    for (const mode of ['block', 'shape'])
        if (await page.locator(`[data-by="${mode}"]`).count()) {
            await page.click(`[data-by="${mode}"]`);
            const all = await groups();
            check(all.length > 0, `rows by ${mode}`);
            equal(all.reduce((sum, group) => sum + parseInt(group[0], 10), 0), layers.length, `layers by ${mode} add up`);
        }
    await page.click('[data-by="layers"]');
    equal(Number(await page.getAttribute('.tall table', 'aria-rowcount')) > layers.length, true, 'layers again');
}

async function selects(page, data) {
    const layers = data.trials[0].layers, own = (await indices(page))[2];
    await page.locator(`.tall tbody tr[data-l="${own}"]`).click();
    equal((await hashOf(page)).sel, String(own), 'a press on a row selects it');
    equal(await chosen(page), String(own), 'the row is marked');
    const layer = layers.find((item) => item.index === own);
    check((await page.textContent('.inspector')).includes(layer.title), 'the inspector is of that layer');
    if (layer.outputs) check((await page.textContent('.inspector')).includes(layer.outputs), 'with its shapes');
    const marks = await page.$$eval('svg .sel', (all) => all.map((mark) => mark.dataset.l));
    check(marks.every((mark) => mark === String(own)), `marks of figures: ${marks}`);
    const inFigures = await page.locator(`main svg [data-l="${own}"]`).count();
    equal(marks.length, inFigures, 'every mark of the layer in figures is selected too');
    await page.keyboard.press('Escape');
    equal((await hashOf(page)).sel, undefined, 'Esc clears it');
    // the strip: a press selects what is there, the same again clears it
    const [x, y] = await onStrip(page, 0.3, (await page.locator('.canvas .base').boundingBox()).height * 0.33);
    await page.mouse.click(x, y);
    const picked = (await hashOf(page)).sel;
    check(/^b?\d+$/.test(picked || ''), `a press on the strip selects: ${picked}`);
    await page.mouse.click(x, y);
    equal((await hashOf(page)).sel, undefined, 'the same again clears it');
    // hovering brushes
    await page.mouse.move(x, y);
    await page.waitForTimeout(50);
    check(/ · /.test(await page.textContent('.say')), 'hovering says what is there');
    check(await page.locator('.tall tr.hov').count() >= 0, 'and brushes rows');
    // figures: a press on a mark selects
    const mark = page.locator('main svg [data-l]:visible').first();
    if (await mark.count()) { await mark.click({ force: true }); equal((await hashOf(page)).sel, await mark.getAttribute('data-l'), 'a press on a mark selects'); await page.keyboard.press('Escape'); }
}

async function keyed(page, data) {
    const layers = data.trials[0].layers.filter((layer) => layer.time_us !== null);
    await page.focus('#strip-canvas');
    await page.keyboard.press('ArrowRight');
    equal((await hashOf(page)).sel, String(layers[0].index), 'the first layer');
    await page.keyboard.press('ArrowRight');
    equal((await hashOf(page)).sel, String(layers[1].index), 'the next in order of execution');
    await page.keyboard.press('ArrowLeft');
    equal((await hashOf(page)).sel, String(layers[0].index), 'and back');
    await page.focus('.tall');
    await page.evaluate(() => { document.querySelector('.tall').scrollTop = 0; });
    await page.waitForTimeout(60);
    const order = await indices(page);
    await page.keyboard.press('Home');
    equal((await hashOf(page)).sel, String(order[0]), 'the first of the table');
    await page.keyboard.press('ArrowDown');
    equal((await hashOf(page)).sel, String(order[1]), 'the next of the table');
    await page.keyboard.press('Escape');
    await page.keyboard.press('w');
    const zoomed = (await hashOf(page)).zoom;
    check(/^[\d.]+-[\d.]+(ns|us|ms|s)$/.test(zoomed || ''), `w zooms: ${zoomed}`);
    await page.keyboard.press('d');
    check((await hashOf(page)).zoom !== zoomed, 'd moves');
    for (let i = 0; i < 8; i++) await page.keyboard.press('s');
    const after = await hashOf(page);
    equal(after.zoom, undefined, 's zooms out');
    if (after.order !== 'time') await page.keyboard.press('s');
    equal((await hashOf(page)).order, 'time', 's of the whole strip: heaviest first');
    await page.keyboard.press('s');
    equal((await hashOf(page)).order, undefined, 'and in order again');
    await page.keyboard.press('?');
    check(await page.locator('dialog').evaluate((dialog) => dialog.open), '? shows the keys');
    await page.keyboard.press('Escape');
    check(!await page.locator('dialog').evaluate((dialog) => dialog.open), 'Esc closes them');
}

async function ranges(page) {
    const height = (await page.locator('.canvas .base').boundingBox()).height, [x, y] = await onStrip(page, 0.2, height * 0.3), [to] = await onStrip(page, 0.6, 0);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 5 });
    await page.mouse.up();
    const range = (await hashOf(page)).range;
    check(/^[\d.]+-[\d.]+(ns|us|ms|s)$/.test(range || ''), `a drag is a range: ${range}`);
    await page.mouse.move(x, y + height * 3);
    check(/layers? · .* · /.test(await page.textContent('.say')), `its sum is said: ${await page.textContent('.say')}`);
    // from the middle of the longest layer to the end of the last: of the first one, half of its time
    const layers = (await dataOf(page)).trials[0].layers.filter((layer) => layer.time_us > 0), longest = layers.reduce((most, layer, i) => layer.time_us > layers[most].time_us ? i : most, 0);
    const before = layers.slice(0, longest).reduce((sum, layer) => sum + layer.time_us, 0), low = before + layers[longest].time_us / 2;
    const high = before + layers.slice(longest).reduce((sum, layer) => sum + layer.time_us, 0);
    await page.evaluate((text) => { location.hash = text; }, `range=${(low / 1e3).toFixed(6)}-${(high / 1e3).toFixed(6)}ms`);
    await page.waitForTimeout(60);
    const [, said, time] = (await page.textContent('.say')).match(/: ([\d,]+) layers? · ([\d.]+ \S+) ·/) || [];
    equal(said, String(layers.length - longest).replace(/\B(?=(\d{3})+$)/g, ','), 'layers that a range touches');
    check(Math.abs(seconds(time) * 1e6 / (high - low) - 1) < 0.01, `of a layer that is cut the part inside counts: ${time}, ${high - low} us`);
    check(/\(1 in part\)/.test(await page.textContent('.say')), 'and that it is cut is said');
    await page.evaluate((text) => { location.hash = text; }, `range=${range}`);
    await page.click('button:text-is("Zoom to it")');
    equal((await hashOf(page)).zoom, range, 'and can be zoomed to');
    await page.click('button:text-is("Whole")');
    equal((await hashOf(page)).zoom, undefined, 'and back');
    const [wx, wy] = await onStrip(page, 0.5, height * 0.3);
    await page.mouse.move(wx, wy);
    await page.mouse.wheel(0, -240);
    await page.waitForTimeout(50);
    check((await hashOf(page)).zoom !== undefined, 'the wheel zooms');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
}

async function colors(page) {
    const values = await page.$$eval('#color option', (all) => all.map((item) => item.value));
    const pixels = () => page.evaluate(() => { const canvas = document.querySelector('.canvas .base'); return Array.from(canvas.getContext('2d').getImageData(0, Math.round(canvas.height * 0.3), canvas.width, 1).data).join(); });
    const before = await pixels();
    for (const value of values.slice(1)) {
        await page.selectOption('#color', value);
        await page.waitForTimeout(60);
        equal((await hashOf(page)).color, value, `coloured by ${value}`);
        check(await page.locator('.legend i').count() > 0, `a legend of ${value}`);
    }
    await page.selectOption('#color', values[0]);
    await page.waitForTimeout(60);
    equal(await pixels() === before, true, 'and as before');
}

async function tabbed(page) {
    const names = await tabsOf(page), shown = () => page.$$eval('main > .tab', (all) => all.filter((tab) => !tab.hidden).map((tab) => tab.id).join());
    for (const [i, name] of names.entries()) {
        await page.keyboard.press(String(i + 1));
        equal(await shown(), `tab-${name}`, `key ${i + 1}`);
        equal(await page.getAttribute(`nav.tabs a[href="#tab-${name}"]`, 'aria-selected'), 'true', `tab ${name}`);
        equal((await hashOf(page)).tab, i ? name : undefined, `the address of ${name}`);
    }
    await page.focus('nav.tabs [aria-selected="true"]');
    await page.keyboard.press('ArrowRight');
    equal(await shown(), `tab-${names[0]}`, 'arrow keys go round');
    await page.click(`nav.tabs a >> nth=1`);
    equal(await shown(), `tab-${names[1]}`, 'a press shows a tab');
    await page.keyboard.press('1');
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await page.click('#theme');
    check(await ground() !== before, 'the theme switches');
    await page.keyboard.press('t');
    equal(await ground(), before, 'and back by t');
}

// The picture to share: a PNG and an SVG of 1200 by 630 with the verdict.
async function shares(page) {
    await page.click('#share summary');
    let [name, path] = await download(page, 'Save PNG', '#share');
    const png = readFileSync(path);
    check(name.endsWith('-card.png') && png.subarray(1, 4).toString() === 'PNG', name);
    equal(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`, '1200x630', 'its size');
    [name, path] = await download(page, 'Save SVG', '#share');
    const svg = readFileSync(path, 'utf8'), verdict = (await page.textContent('.top .lead')).replace(/\s+/g, ' ').trim();
    check(svg.includes('width="1200" height="630"') && svg.split('<rect').length > 5, name);
    const rows = new Map(); // blocks of one level never lie upon each other, also of a part that runs in several pieces
    for (const [, x, y, width] of svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="22"/g)) rows.set(y, (rows.get(y) || []).concat([[Number(x), Number(width)]]));
    check([...rows.values()].every((row) => row.sort((a, b) => a[0] - b[0]).every((box, i) => !i || box[0] >= row[i - 1][0] + row[i - 1][1] - 0.1)), 'blocks of the strip upon each other');
    check(verdict.split(' ').every((word) => svg.includes(word.replace(/[&<>"]/g, ''))), 'the verdict is in it');
    await page.keyboard.press('Escape');
}

async function plots(page) {
    await page.evaluate(() => { location.hash = 'tab=latency'; });
    const figures = page.locator('figure[data-plot]'), count = await figures.count();
    const has = await page.evaluate(() => typeof window.uPlot === 'function');
    check(has === count > 0, `uPlot is in the page only where it is used: ${has}, ${count} figures`);
    for (let i = 0; i < count; i++) {
        const figure = figures.nth(i);
        const tab = await figure.evaluate((item) => item.closest('.tab').id.slice(4));
        if (await figure.evaluate((item) => Boolean(item.closest('details:not([open])')))) continue;
        await page.evaluate((name) => { location.hash = `tab=${name}`; }, tab);
        await figure.scrollIntoViewIfNeeded();
        await figure.locator('canvas').waitFor();
        check(!await figure.locator('svg').first().isVisible(), 'the picture makes room');
        const labels = () => figure.locator('output').textContent();
        const all = await labels(), over = figure.locator('.u-over'), box = await over.boundingBox();
        await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
        await page.mouse.up();
        await page.mouse.move(2, 2); // while one points at it, its values are said
        await page.waitForTimeout(50);
        check(await labels() !== all, `figure ${i}: a drag zooms`);
        await over.dblclick({ position: { x: 20, y: 20 } });
        await page.mouse.move(2, 2);
        await page.waitForTimeout(50);
        equal(await labels() === all, true, `figure ${i}: a double click shows all`);
        await figure.locator('button[aria-label="Zoom in"]').click();
        await page.waitForTimeout(50);
        check(await labels() !== all, `figure ${i}: the button zooms`);
        await figure.locator('button[aria-label="Show all"]').click();
        await page.waitForTimeout(50);
        equal(await labels() === all, true, `figure ${i}: the button shows all`);
    }
    return count;
}

async function files(page, data) {
    const lines = (path) => readFileSync(path, 'utf8').trimEnd().split('\n');
    await page.evaluate(() => { location.hash = 'tab=evidence'; });
    let [name, path] = await download(page, 'JSON');
    check(name.endsWith('-report.json'), name);
    equal(JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))), JSON.stringify(data), 'the JSON that is saved');
    [name, path] = await download(page, 'Metrics (CSV)');
    equal(lines(path).length - 1, data.trials.reduce((sum, trial) => sum + Object.keys(trial.metrics).length, 0), 'rows of metrics');
    [name, path] = await download(page, 'Layers (CSV)');
    equal(lines(path).length - 1, data.trials.reduce((sum, trial) => sum + trial.layers.length + (trial.layers.length ? 2 : 0), 0), 'rows of layers');
    [name, path] = await download(page, 'Samples (CSV)');
    equal(lines(path)[0], 'trial,launch,stream,seq,ns,warmup', name);
    const kept = lines(path).slice(1).map((line) => line.split(',')).filter((cells) => cells[5] === '0').map((cells) => Number(cells[4])).sort((a, b) => a - b);
    const median = (kept[(kept.length - 1) >> 1] + kept[kept.length >> 1]) / 2 / 1e9;
    if (data.trials[0].launches.length === 1) check(Math.abs(median / data.trials[0].metrics['latency.p50'].value - 1) < 1e-6, `the median of the samples is ${median}`);
}

// What is saved, byte for byte what `assay report --format csv` prints: NAME.html beside NAME.metrics.csv, NAME.layers.csv, NAME.samples.csv.
async function saves(file) {
    const page = await open(file);
    await ready(page);
    await page.evaluate(() => { location.hash = 'tab=evidence'; });
    for (const table of ['metrics', 'layers', 'samples']) {
        const [, path] = await download(page, `${table[0].toUpperCase()}${table.slice(1)} (CSV)`);
        const ours = readFileSync(path, 'utf8').split('\n'), theirs = readFileSync(file.replace(/html$/, `${table}.csv`), 'utf8').split('\n');
        const at = ours.findIndex((line, i) => line !== theirs[i]);
        equal(at < 0 ? '' : String(ours[at]), at < 0 ? '' : String(theirs[at]), `${file}: line ${at + 1} of the ${table}`);
        equal(ours.length, theirs.length, `${file}: lines of the ${table}`);
    }
    await page.done();
}

// Names that mean harm, in what the script writes: control characters and turns of direction are shown as U+FFFD.
async function shows(file) {
    const page = await open(file);
    await ready(page);
    const all = (await indices(page)).slice(0, 40), unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
    let replaced = 0;
    for (const index of all) {
        await page.evaluate((sel) => { location.hash = `sel=${sel}`; }, index);
        const text = await page.evaluate(() => document.querySelector('.inspector').textContent + Array.from(document.querySelectorAll('.tall td, .tall th, .say')).map((item) => item.textContent).join(''));
        check(!unsafe.test(text.replace(/\n/g, '')), `layer ${index} shows a control character or a turn of direction`);
        replaced += text.includes('\ufffd');
    }
    check(replaced > 0, 'they are shown as U+FFFD');
    for (const mode of ['op', 'block', 'shape']) { await page.evaluate((by) => { location.hash = `by=${by}`; }, mode); check(!unsafe.test((await page.textContent('.tall')).replace(/\n/g, '')), `rows by ${mode}`); }
    await page.evaluate(() => { location.hash = ''; });
    await page.click('#share summary');
    const [, path] = await download(page, 'Save SVG', '#share');
    const svg = readFileSync(path, 'utf8');
    check(!/<script|<img|onerror=|onload=/i.test(svg) && !unsafe.test(svg.replace(/\n/g, '')), 'the SVG is inert');
    await page.done();
}

// What zlib deflates comes back, whatever kinds of blocks it chose.
async function inflates(page) {
    const noise = Uint8Array.from({ length: 70000 }, (none, i) => Math.imul(i + 1, 2654435761) >>> 24);
    const all = [new Uint8Array(0), Uint8Array.of(97), Uint8Array.from('a word '.repeat(20000), (c) => c.charCodeAt(0)), noise, new Uint8Array(readFileSync(new URL(import.meta.url)))];
    for (const bytes of all)
        for (const options of [{ level: 0 }, { level: 1 }, { level: 9 }, { strategy: 2 }, { strategy: 4 }]) {
            const same = await page.evaluate(([from, wanted]) => {
                const made = assayInflate(Uint8Array.from(atob(from), (c) => c.charCodeAt(0)), atob(wanted).length);
                return Array.from(made, (code) => String.fromCharCode(code)).join('') === atob(wanted);
            }, [deflateSync(bytes, options).toString('base64'), Buffer.from(bytes).toString('base64')]);
            check(same, `${bytes.length} bytes deflated with ${JSON.stringify(options)} come back`);
        }
}

async function use(file) {
    const page = await open(file);
    await ready(page);
    await inflates(page);
    const data = await dataOf(page);
    await sorts(page);
    await filters(page, data);
    await modes(page, data);
    await selects(page, data);
    await keyed(page, data);
    await ranges(page);
    await colors(page);
    await tabbed(page);
    await shares(page);
    const figures = await plots(page);
    await files(page, data);
    await page.done();
    await addresses(file, data);
    console.log(`${figures} figures were zoomed`);
}

// A link shows what its sender saw.
async function addresses(file, data) {
    const layer = data.trials[0].layers[1];
    const page = await open(file, {}, `#sel=${layer.index}&color=op&by=op&q=${encodeURIComponent(layer.op.toLowerCase())}&order=time`);
    await ready(page);
    equal(await page.getAttribute('[data-by="op"]', 'aria-pressed'), 'true', 'by=op');
    equal(await page.inputValue('#layer-filter'), layer.op.toLowerCase(), 'q');
    equal(await page.inputValue('#color'), 'op', 'color');
    check((await page.textContent('.inspector')).includes(layer.title), 'sel');
    await page.done();
    const old = await open(file, {}, `#layer-${layer.index}`);
    await ready(old);
    equal((await hashOf(old)).sel, String(layer.index), 'a link to a layer selects it');
    equal(await chosen(old), String(layer.index), 'and its row is there');
    await old.done();
    const part = await open(file, {}, '#memory');
    await ready(part);
    check(await part.locator('#memory').isVisible(), 'a link to a section shows its tab');
    await part.done();
    const broken = await open(file, {}, '#sel=999999&color=%zz&zoom=9-3ms&by=nothing&tab=none&%');
    await ready(broken);
    check(await broken.locator('.tall').isVisible(), 'an address that means nothing does no harm');
    await broken.done();
}

// What can be reached by Tab, in all tabs together; the header counts once.
async function stops(file, most) {
    const page = await open(file);
    await ready(page);
    const counts = {}, visible = () => page.evaluate(() => Array.from(document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')).filter((item) =>
        item.tabIndex >= 0 && item.getClientRects().length && item.checkVisibility({ visibilityProperty: true })).map((item) => Boolean(item.closest('main'))));
    let total = 0;
    for (const tab of await tabsOf(page)) {
        await page.evaluate((name) => { location.hash = `tab=${name}`; }, tab);
        await page.waitForTimeout(300);
        const found = await visible();
        counts[tab] = found.length;
        total += found.filter(Boolean).length + (total ? 0 : found.filter((main) => !main).length);
    }
    console.log(JSON.stringify({ stops: total, tabs: counts }));
    check(total <= most, `${file} has ${total} tab stops, at most ${most}`);
    await page.done();
}

// How many screens of 1440 by 900 a tab is high.
async function screens(file, most) {
    const page = await open(file), found = {};
    await ready(page);
    for (const tab of await tabsOf(page)) {
        await page.evaluate((name) => { location.hash = `tab=${name}`; }, tab);
        await page.waitForTimeout(500); // plots are drawn when they come near
        found[tab] = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
        check(found[tab] <= most, `${file}, ${tab}: ${found[tab].toFixed(2)} screens, at most ${most}`);
    }
    console.log(JSON.stringify({ screens: found }, (key, value) => typeof value === 'number' ? Math.round(100 * value) / 100 : value));
    await page.done();
}

// Boxes that are no frames overlap none, and each lies in the frame of its group.
async function boxesApart(page, when) {
    const overlaps = await page.$$eval('.network .node:not(.frame) > .tint', (rects) => {
        const boxes = rects.map((rect) => rect.getBBox());
        let count = 0;
        boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
            if (a.x < b.x + b.width - 0.5 && b.x < a.x + a.width - 0.5 && a.y < b.y + b.height - 0.5 && b.y < a.y + a.height - 0.5) count++;
        }));
        return count;
    });
    equal(overlaps, 0, `${when}: boxes upon each other`);
}
async function graph(file) {
    const page = await open(file, {}, '#tab=graph');
    await ready(page);
    const count = () => page.locator('.network .node').count(), first = await count();
    check(first > 2, `${first} boxes`);
    await boxesApart(page, 'at first');
    equal(await page.$$eval('#graph [tabindex="0"], #graph button:not([tabindex="-1"])', (list) => list.filter((item) => item.getClientRects().length).length), 1, 'tab stops of the graph');
    await page.locator('.network .node:not(.frame) .toggle').first().click();
    const opened = await count();
    check(opened > first, `${opened} boxes once one is open, ${first} before`);
    await boxesApart(page, 'one open');
    const hash = await addressOf(page);
    check(/open=/.test(hash), `what is open is in the address: ${hash}`);
    const again = await open(file, {}, hash);
    await ready(again);
    equal(await again.locator('.network .node').count(), opened, 'the address shows the same boxes');
    await again.done();
    const layer = page.locator('.network .node[data-l]').first(), index = await layer.getAttribute('data-l');
    await layer.click();
    equal((await hashOf(page)).sel, index, 'a box selects its layer');
    equal(await page.$$eval('.network .on', (list) => list.map((item) => item.getAttribute('data-l')).join()), index, 'and is marked');
    await page.focus('.network');
    const before = (await hashOf(page)).sel;
    await page.keyboard.press('ArrowDown');
    check((await hashOf(page)).sel !== before, 'the arrow keys go along the lines');
    await page.keyboard.press('ArrowUp');
    equal((await hashOf(page)).sel, before, 'and back');
    await page.getByRole('button', { name: 'Open all blocks' }).click();
    const layers = await page.evaluate(() => document.querySelectorAll('.network .node[data-l]').length), data = await dataOf(page);
    equal(layers, data.trials[0].layers.length, 'every layer has a box when all are open');
    await boxesApart(page, 'all open');
    await page.getByRole('button', { name: 'Close all blocks' }).click();
    check(await count() < opened, 'all are closed');
    await page.done();
}

async function difference(file) {
    const page = await open(file);
    await ready(page);
    await page.evaluate(() => { location.hash = 'tab=evidence'; });
    equal((await page.$$eval('#downloads button', (all) => all.map((item) => item.textContent))).join(), 'JSON', 'what a difference offers to save');
    const [, path] = await download(page, 'JSON');
    equal(JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))), JSON.stringify(await dataOf(page)), 'the JSON of a difference');
    await page.done();
}

// --- time ---------------------------------------------------------------------------------------------------

// From the first byte asked for until the script is through, the page is laid out and painted, and a key is answered. On a machine that has more to
// do than it has processors the page's own processor time is judged instead, and that is said.
async function time(file, limit) {
    const all = [], own = [], busy = loadavg()[0] > availableParallelism();
    for (let i = 0; i < 3; i++) {
        const page = await open('about:blank'), tools = await page.context().newCDPSession(page);
        await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 240000 });
        await ready(page);
        const took = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0))));
        own.push(await worked(tools));
        await page.keyboard.press('2');
        check(await page.getAttribute('nav.tabs a >> nth=1', 'aria-selected') === 'true', 'a key is answered');
        all.push(took);
        await page.done();
    }
    const least = Math.min(...(busy ? own : all));
    console.log(JSON.stringify({ interactive_ms: all.map(Math.round), own_ms: own.map(Math.round), busy, least_ms: Math.round(least) }));
    check(!(least > limit), `${file} takes ${least.toFixed(0)} ms until it can be used, at most ${limit}`);
}

// Processor time of the page's main thread until now, in ms.
async function worked(tools) {
    const { metrics } = await tools.send('Performance.getMetrics');
    return 1000 * metrics.find((metric) => metric.name === 'TaskDuration').value;
}
// The work of one selection: the key's handler, what it asked to be drawn in the next frame, and the layout; not the wait for that frame, nor its paint.
const selectOnce = (page) => page.evaluate(() => new Promise((done) => {
    let from = 0, handled = 0;
    requestAnimationFrame(() => { from = performance.now(); });
    const begin = performance.now();
    document.getElementById('strip-canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    handled = performance.now() - begin;
    requestAnimationFrame(() => { document.body.getBoundingClientRect(); done(handled + performance.now() - from); });
}));
// A step in every frame: the table scrolls and the strip is zoomed, in and out again.
const STEPS = 120;
const moveOn = (page) => page.evaluate((steps) => new Promise((done) => {
    const strip = document.querySelector('.canvas .base'), table = document.querySelector('.tall'), at = strip.getBoundingClientRect(), begin = performance.now();
    let step = 0;
    const go = () => {
        if (step++ === steps) { done(1000 * steps / (performance.now() - begin)); return; }
        strip.dispatchEvent(new WheelEvent('wheel', { deltaY: step <= steps / 2 ? -60 : 60, clientX: at.left + at.width * 0.6, clientY: at.top + 20, bubbles: true, cancelable: true }));
        table.scrollTop = step <= steps / 2 ? step * 240 : (steps - step) * 240;
        requestAnimationFrame(go);
    };
    requestAnimationFrame(go);
}), STEPS);
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

// Medians of 5 pages (selection: of 100). On a machine that has more to do than it has processors the processor time of the page's main thread is judged
// instead, with everything that it does until then: parsing, script, layout and paint.
async function floors(file, picture, selection, frames) {
    const pictures = [], selections = [], rates = [], shown = new Set(), own = { picture: [], selection: [], frame: [] }, busy = loadavg()[0] > availableParallelism();
    for (let i = 0; i < 5; i++) {
        const page = await open('about:blank'), tools = await page.context().newCDPSession(page);
        await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 240000 });
        await ready(page);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
        own.picture.push(await worked(tools));
        pictures.push(await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => { const [entry] = list.getEntriesByName('first-contentful-paint'); if (entry) done(entry.startTime); })
            .observe({ type: 'paint', buffered: true }))));
        await page.focus('#strip-canvas');
        const before = await worked(tools);
        for (let k = 0; k < 20; k++) { selections.push(await selectOnce(page)); shown.add(await addressOf(page)); }
        own.selection.push((await worked(tools) - before) / 20);
        await page.keyboard.press('Escape');
        const still = await worked(tools);
        rates.push(await moveOn(page));
        own.frame.push((await worked(tools) - still) / STEPS);
        await page.done();
    }
    check(shown.size >= 20, `${shown.size} different selections were shown`);
    const found = { picture_ms: median(pictures), select_ms: median(selections), frames_per_s: median(rates) };
    const work = { picture_ms: median(own.picture), select_ms: median(own.selection), frame_ms: median(own.frame) };
    console.log(JSON.stringify({ ...found, busy, load: loadavg()[0], best: { picture_ms: Math.min(...pictures), select_ms: Math.min(...selections), frames_per_s: Math.max(...rates) },
        own: work, pictures_ms: pictures, rates }, (key, value) => typeof value === 'number' ? Math.round(10 * value) / 10 : value));
    const judged = busy ? { picture_ms: work.picture_ms, select_ms: work.select_ms, frames_per_s: 1000 / work.frame_ms } : found, how = busy ? ' by its own processor time' : '';
    check(judged.picture_ms <= picture, `${file}: the first picture after ${judged.picture_ms.toFixed(0)} ms${how}, at most ${picture}`);
    check(judged.select_ms <= selection, `${file}: a selection takes ${judged.select_ms.toFixed(1)} ms${how}, at most ${selection}`);
    check(judged.frames_per_s >= frames, `${file}: ${judged.frames_per_s.toFixed(0)} frames a second${how}, at least ${frames}`);
}

async function shot(file, out, width, colorScheme, selector) {
    const [path, hash] = file.split('#');
    const page = await open(path, { viewport: { width: Number(width), height: 900 }, colorScheme }, hash ? `#${hash}` : '');
    await ready(page);
    await page.evaluate(async () => {
        for (const figure of document.querySelectorAll('figure')) {
            if (!figure.offsetHeight) continue;
            figure.scrollIntoView();
            await new Promise((next) => setTimeout(next, 60));
        }
        scrollTo(0, 0);
    });
    await page.waitForTimeout(300);
    if (selector === 'top') await page.screenshot({ path: out });
    else if (selector) await page.locator(selector).screenshot({ path: out });
    else await page.screenshot({ path: out, fullPage: true });
    await page.done();
}

if (verb === 'check')
    for (const file of rest) {
        await answers(file);
        await fits(file);
        await names(file);
        await odd(file);
        await accessible(file);
        await without(file);
        await prints(file);
    }
else if (verb === 'use') await use(rest[0]);
else if (verb === 'saves') for (const file of rest) await saves(file);
else if (verb === 'shows') await shows(rest[0]);
else if (verb === 'graph') await graph(rest[0]);
else if (verb === 'difference') await difference(rest[0]);
else if (verb === 'stops') await stops(rest[0], Number(rest[1]));
else if (verb === 'screens') await screens(rest[0], Number(rest[1]));
else if (verb === 'time') await time(rest[0], Number(rest[1]));
else if (verb === 'floors') await floors(rest[0], ...rest.slice(1).map(Number));
else if (verb === 'shot') await shot(...rest);
else if (verb === 'shots') {
    for (const width of [1440, 768, 390])
        for (const theme of ['light', 'dark']) await shot(rest[0], `${rest[1]}-${width}-${theme}.png`, width, theme, 'top');
}
else if (/^timeline/.test(verb)) {
    const verbs = await import('./timeline.mjs'), tools = { open, ready, check, equal, note };
    if (verb === 'timeline-time') await verbs.time(tools, rest[0], Number(rest[1]), Number(rest[2]));
    else await verbs[verb === 'timeline-shows' ? 'shows' : 'use'](tools, ...rest);
}
else note(`unknown: ${verb}`);
await browser.close();
if (!verb.startsWith('shot')) console.log(`${checks} checks, ${faults.length} failed`);
process.exit(faults.length ? 1 : 0);
