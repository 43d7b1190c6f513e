/* base.js - elements and numbers. Text reaches the page only through textContent and canvas; nothing is fetched. */

const root = document.documentElement;
const find = (selector, within) => (within || document).querySelector(selector);
const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
const known = (value) => typeof value === 'number' && isFinite(value);

/* Control characters and direction changes are shown as U+FFFD, as in the text of the page (html_text.c); downloads keep them. */
function safe(text) {
    return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff\ufffe\uffff]/g, '\ufffd');
}
function make(tag, attributes, children) {
    const element = document.createElement(tag);
    Object.keys(attributes || {}).forEach((key) => element.setAttribute(key, safe(attributes[key])));
    (children || []).forEach((child) => { if (child !== null) element.append(typeof child === 'string' ? safe(child) : child); });
    return element;
}
function button(text, press, attributes) {
    const element = make('button', attributes, [text]);
    element.type = 'button';
    element.addEventListener('click', press);
    return element;
}

/* --- numbers, as written by the C side ------------------------------------------------------------ */

function digits(value) {
    const size = Math.abs(value);
    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
/* Three significant digits and a prefix. */
function scaled(value, unit) {
    const size = Math.abs(value);
    if (!known(value)) return '—';
    if (unit === 'ratio') return (value * 100).toFixed(size < 0.0995 ? 1 : 0) + ' %';
    if (unit === 's' && size < 1) {
        let step = 0;
        do { value *= 1000; step++; } while (step < 3 && Math.abs(value) < 0.9995);
        return (value === 0 ? '0' : digits(value)) + ' ' + 'mµn'[step - 1] + 's';
    }
    const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
    let i = 0;
    for (; i < 5 && Math.abs(value) >= 999.5; i++) value /= 1000;
    return (i ? digits(value) : digits(value).replace(/\.0+$/, '')) + ' ' + prefixes[i] + unit;
}
/* The first toLocaleString of a page takes 20 ms: not for whole numbers. */
const count = (value) => Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ',') : value.toLocaleString('en-US');
const plural = (value, noun) => count(value) + ' ' + noun + (value === 1 ? '' : 's');
/* A label of an axis: as many digits as its step needs, so that 102.5 does not read as 103. */
function tick(value, unit, step) {
    const text = scaled(value, unit), suffix = text.slice(text.indexOf(' ') + 1);
    const size = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, m: 1e-3, 'µ': 1e-6, n: 1e-9}[suffix.slice(0, suffix.length - unit.length)] || 1;
    if (unit === 'ratio' || !known(step)) return text;
    let places = 0;
    for (let part = step / size; places < 4 && Math.abs(part - Math.round(part)) > 1e-6; part *= 10) places++;
    return (value / size).toFixed(places) + ' ' + suffix;
}
/* Cut in the middle: the end distinguishes layers. */
function shorten(text, most) {
    const letters = Array.from(text);
    if (letters.length <= most) return text;
    const head = Math.floor((most - 1) * 0.4);
    return letters.slice(0, head).join('') + '…' + letters.slice(letters.length - (most - 1 - head)).join('');
}
