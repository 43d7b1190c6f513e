/* page.js - keys, tips, paper, and the start. The page is complete without its script: tabs are then sections, the strip a picture, and the table holds the
 * layers that lose most time. Files of this folder are one script, in the order of scripts/page.cmake; plots.js comes
 * before them where the page has something to zoom. */

let layers = null;

/* --- keys ------------------------------------------------------------------------------------------------------- */

const keys = typeof timelineKeys !== 'undefined' ? timelineKeys.concat([['t', 'light or dark'], ['?', 'these keys'], ['Esc', 'clear the range, the selection, the search']]) : [['1 2 …', 'the tabs'], ['← →', 'move through the layers in order of execution'], ['↑ ↓', 'move through them as the table shows them'], ['W S', 'zoom the strip in and out'], ['A D', 'move it'],
    ['s', 'the whole strip: heaviest first, or in order'], ['/', 'filter the layers'], ['t', 'light or dark'], ['?', 'these keys'], ['Esc', 'close, then clear']];
const dialog = make('dialog', {'aria-labelledby': 'keys-title'}, [
    make('h2', {id: 'keys-title'}, ['Keys']),
    make('dl', {'class': 'facts'}, keys.map((key) => make('div', {}, [make('dt', {}, [make('kbd', {}, [key[0]])]), make('dd', {}, [key[1]])]))),
    make('p', {'class': 'note'}, [typeof timelineKeys !== 'undefined' ? 'Drag to move, drag on the ruler (or with Shift) for a range, turn the wheel to zoom, double click to zoom to an event.' : 'On the strip: drag for the sum of a range, double click to zoom to it, turn the wheel to zoom.']),
    button('Close', () => dialog.close())]);

/* One thing at a time: the menu, the range, the zoom, the selection, the filter. */
function escape() {
    const open = find('details.menu[open], details.chip[open]');
    all('.tipped').forEach((tip) => tip.classList.add('quiet'));
    if (open) open.open = false;
    else if (state.range) choose({range: ''});
    else if (state.sel) choose({sel: ''});
    else if (state.zoom) choose({zoom: ''});
    else if (state.q) choose({q: ''});
}
function press(event) {
    const tab = tabs[Number(event.key) - 1], step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1}[event.key];
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, onStrip = strip.canvas && tabNow() === (tabs[0] || {name: ''}).name;
    if (tab) goTab(tab.name);
    else if (key === '?') dialog.showModal();
    else if (key === 't') setTheme(isDark() ? 'light' : 'dark');
    else if (key === '/' && view.input) { goTab(tabs.length ? tabs[0].name : ''); view.input.focus(); view.input.select(); }
    else if (step && layers && (state.sel || (event.target.closest && event.target.closest('.canvas, .picture')))) walk(step, /Up|Down/.test(event.key) && onStrip);
    else if (onStrip && key === 'w') zoomStrip(0.6);
    else if (onStrip && key === 's') { if (spanOf(state.zoom)) zoomStrip(1 / 0.6); else choose({order: state.order === 'time' ? '' : 'time'}); }
    else if (onStrip && (key === 'a' || key === 'd')) panStrip(key === 'a' ? -0.25 : 0.25);
    else if (typeof pressChart === 'function' && chart.canvas && chart.box.offsetParent && /^[wasdrnpf0/]$/.test(key)) { pressChart(event); return; }
    else return;
    event.preventDefault();
}
function startKeys() {
    document.body.append(dialog);
    document.addEventListener('keydown', (event) => {
        const field = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (event.defaultPrevented || dialog.open) return;
        if (event.key === 'Escape') { if (field && event.target.value && event.target === view.input) choose({q: ''}); else if (!field) escape(); if (field) event.target.blur(); return; }
        if (!field && !event.ctrlKey && !event.metaKey && !event.altKey) press(event);
    });
}

/* --- tips next to their numbers -------------------------------------------------------------------------------------- */

function placeTip(event) {
    const tipped = event.target.closest && event.target.closest('.tipped');
    if (!tipped) return;
    const tip = find('.tip', tipped), at = tipped.getBoundingClientRect(), own = tip.getBoundingClientRect();
    tipped.classList.remove('quiet');
    tip.style.left = Math.max(8, Math.min(Math.max(8, at.left), innerWidth - own.width - 8)) + 'px';
    tip.style.bottom = 'auto';
    tip.style.top = (at.bottom + 8 + own.height < innerHeight ? at.bottom + 6 : Math.max(8, at.top - own.height - 6)) + 'px';
}

/* --- print is light, complete and unfolded ----------------------------------------------------------------------------- */

function startPaper() {
    let theme = null, open = [];
    addEventListener('beforeprint', () => {
        tabs.forEach((tab) => { tab.panel.hidden = false; });
        open = all('main details:not([open])');
        open.forEach((element) => { element.open = true; });
        theme = root.getAttribute('data-theme');
        root.setAttribute('data-theme', 'light');
    });
    addEventListener('afterprint', () => {
        open.forEach((element) => { element.open = false; });
        if (theme) root.setAttribute('data-theme', theme);
        else root.removeAttribute('data-theme');
        showTab();
    });
}

/* --- start -------------------------------------------------------------------------------------------------------------- */

document.body.append(palette);
layers = loadLayers();
startTabs();
startTables();
startSelection();
startStrip();
startTable();
startInspector();
startGraph();
if (typeof startPlots === 'function') startPlots();
if (typeof startTimeline === 'function') startTimeline();
startFiles();
startPaper();
startCopies();
startKeys();
document.addEventListener('mouseover', placeTip);
document.addEventListener('focusin', placeTip);
const tools = document.getElementById('tools');
if (tools) {
    startSharing(tools);
    tools.append(themeButton, button('?', () => dialog.showModal(), {'aria-label': 'Keys'}));
    tools.hidden = false;
}
setTheme(stored('assay-theme'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTheme());
root.setAttribute('data-script', 'on'); /* the style sheet hides what the script shows in another way */
showTab(); /* before anything is laid out: what is hidden costs nothing */
repaint();
readHash();
addEventListener('hashchange', readHash);
document.addEventListener('click', (event) => { /* a link within the page to something in another tab */
    const link = event.target.closest && event.target.closest('main a[href^="#"]'), to = link && document.getElementById(link.getAttribute('href').slice(1));
    if (to && !event.defaultPrevented) { event.preventDefault(); reveal(to); }
});
root.setAttribute('data-ready', 'on');
