/* state.js - the reader's choices, all of them in the address: #tab=roofline&sel=46&color=op&by=op&q=attn&zoom=3-9ms. */

const defaults = {__proto__: null, tab: '', sel: '', color: '', by: 'layers', q: '', sort: '', zoom: '', range: '', order: '', open: '', at: '', span: '', event: '', find: ''};
const state = Object.assign({}, defaults);
const listeners = [];
/* Called with the set of members that changed. */
const listen = (act) => listeners.push(act);

/* Browsers drop changes of the address beyond 200 in 30 s, and each takes some milliseconds: it follows what is shown. */
const address = {timer: 0, left: 100, at: 0};
function queueHash(delay) {
    const now = performance.now();
    address.left = Math.min(100, address.left + (now - address.at) / 300);
    address.at = now;
    if (address.timer) return;
    address.timer = setTimeout(writeHash, address.left < 1 ? 300 : delay);
}
function flushHash() { if (address.timer) writeHash(); }
addEventListener('pagehide', flushHash);
function writeHash() {
    clearTimeout(address.timer);
    address.timer = 0;
    address.left--;
    const text = Object.keys(defaults).filter((key) => state[key] !== defaults[key])
        .map((key) => key + '=' + encodeURIComponent(state[key]).replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%C2%B5/g, 'u')).join('&');
    try { history.replaceState(null, '', text || location.hash ? '#' + text : location.pathname + location.search); } catch (fault) { /* a page without an address */ }
}
/* how: nothing; 'later' in the middle of a movement; 'silent' if the address has it already. */
function choose(changes, how) {
    const changed = new Set(Object.keys(changes).filter((key) => state[key] !== changes[key]));
    Object.assign(state, changes);
    if (!changed.size) return;
    if (how !== 'silent') queueHash(how === 'later' ? 150 : 0);
    listeners.forEach((act) => act(changed));
}
/* The state in the address; links of the page itself (#memory, #layer-12) lead to their tab. */
function readHash() {
    const text = location.hash.slice(1), made = Object.assign({}, defaults);
    clearTimeout(address.timer);
    address.timer = 0;
    if (/^[a-z]+=/.test(text)) {
        text.split('&').forEach((part) => {
            const [key, value] = [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)];
            try { if (key in defaults) made[key] = decodeURIComponent(value); } catch (fault) { /* no address of ours */ }
        });
        choose(made, 'silent');
        return;
    }
    let id = '';
    try { id = decodeURIComponent(text); } catch (fault) { return; }
    const layer = /^layer-(\d+)$/.exec(id), element = id && document.getElementById(id);
    if (layer && layers && layers.at.has(Number(layer[1]))) { choose({tab: '', sel: layer[1]}); return; }
    if (element) reveal(element);
}

/* --- tabs ------------------------------------------------------------------------------------------- */

const tabs = all('nav.tabs a').map((link) => ({link: link, name: link.getAttribute('href').slice(5), panel: find(link.getAttribute('href'))}));
const tabNow = () => (tabs.find((tab) => tab.name === state.tab) || tabs[0] || {name: ''}).name;
const goTab = (name) => choose({tab: tabs.length && name !== tabs[0].name ? name : ''});
function showTab() {
    const now = tabNow();
    tabs.forEach((tab) => {
        tab.panel.hidden = tab.name !== now;
        tab.link.setAttribute('aria-selected', String(tab.name === now));
        tab.link.tabIndex = tab.name === now ? 0 : -1;
        if (tab.name === now && root.hasAttribute('data-ready')) tab.link.scrollIntoView({block: 'nearest', inline: 'nearest'}); /* on a phone the row of tabs scrolls */
    });
}
function reveal(element) {
    const tab = tabs.find((item) => item.panel.contains(element));
    if (tab) goTab(tab.name);
    for (let up = element; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    element.scrollIntoView({block: 'start'});
}
function startTabs() {
    const list = find('nav.tabs ul');
    if (!list) return;
    list.setAttribute('role', 'tablist');
    list.setAttribute('aria-label', 'Parts of this page');
    tabs.forEach((tab, at) => {
        tab.link.parentElement.setAttribute('role', 'presentation');
        tab.link.setAttribute('role', 'tab');
        tab.link.setAttribute('aria-controls', tab.panel.id);
        tab.panel.setAttribute('role', 'tabpanel');
        tab.link.addEventListener('click', (event) => { event.preventDefault(); goTab(tab.name); });
        tab.link.addEventListener('keydown', (event) => {
            const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], next = step && tabs[(at + step + tabs.length) % tabs.length];
            if (!next) return;
            event.preventDefault();
            event.stopPropagation();
            goTab(next.name);
            next.link.focus();
        });
    });
    listen((changed) => { if (changed.has('tab')) { showTab(); scrollTo(0, 0); } });
}

/* --- theme ------------------------------------------------------------------------------------------- */

function stored(key, value) {
    try {
        if (value === undefined) return localStorage.getItem(key);
        localStorage.setItem(key, value);
    } catch (fault) { /* a page from disk may have none */ }
    return null;
}
function isDark() {
    const chosen = root.getAttribute('data-theme');
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
const repaints = []; /* what is drawn with the theme's colours */
const repaint = () => { inks.clear(); if (root.hasAttribute('data-script')) repaints.forEach((act) => act()); }; /* not before the page stands */
const themeButton = button('', () => setTheme(isDark() ? 'light' : 'dark'), {id: 'theme'});
function setTheme(theme) {
    if (theme === 'light' || theme === 'dark') {
        root.setAttribute('data-theme', theme);
        stored('assay-theme', theme);
    }
    themeButton.textContent = isDark() ? 'Light' : 'Dark';
    themeButton.setAttribute('aria-label', 'Switch to the ' + (isDark() ? 'light' : 'dark') + ' theme');
    repaint();
}
/* A colour of the style sheet: "fig-s0" of the figures' palette, "ink", "line" of the page. */
const inks = new Map(), palette = make('span', {'class': 'fig', hidden: ''});
function ink(name) {
    if (!inks.has(name)) inks.set(name, getComputedStyle(palette).getPropertyValue('--' + name).trim() || '#888');
    return inks.get(name);
}
