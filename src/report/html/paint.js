/* paint.js - the same picture on a canvas and as SVG: rectangles, frames and words that fit. */

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const ruler = document.createElement('canvas').getContext('2d');
const widths = new Map(); /* the same words are measured in every frame */
function measure(text, font) {
    const key = font + text;
    if (!widths.has(key)) {
        if (widths.size > 20000) widths.clear();
        if (ruler.font !== font) ruler.font = font;
        widths.set(key, ruler.measureText(text).width);
    }
    return widths.get(key);
}
/* The first of the texts that fits completely; a part of the last one, if it is long enough. "": none. */
function fitting(texts, room, font) {
    for (const text of texts) if (measure(safe(text), font) <= room) return safe(text);
    const last = texts[texts.length - 1];
    for (let most = Math.min(last.length - 1, Math.floor(room / 4)); most >= 4; most--) if (measure(safe(shorten(last, most)), font) <= room) return safe(shorten(last, most));
    return '';
}
const fontOf = (size, weight) => (weight || 400) + ' ' + (size || 11) + 'px ' + FONT;
function canvasPainter(context) {
    return {
        rect: (x, y, width, height, color, alpha) => {
            context.globalAlpha = alpha;
            context.fillStyle = color;
            context.fillRect(x, y, width, height);
            context.globalAlpha = 1;
        },
        frame: (x, y, width, height, color, thick) => {
            context.strokeStyle = color;
            context.lineWidth = thick;
            context.strokeRect(x, y, width, height);
        },
        measure: (text, size, weight) => measure(text, fontOf(size, weight)),
        label: (x, y, room, texts, color, size, weight) => {
            const font = fontOf(size, weight), text = room > 8 ? fitting(texts, room, font) : '';
            if (!text) return;
            context.font = font;
            context.textBaseline = 'middle';
            context.fillStyle = color;
            context.fillText(text, x, y);
        }
    };
}
function svgPainter(parts) {
    const escaped = (text) => safe(text).replace(/[&<>"]/g, (sign) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[sign]));
    const place = (value) => Number(value.toFixed(2));
    return {
        rect: (x, y, width, height, color, alpha) => parts.push('<rect x="' + place(x) + '" y="' + place(y) + '" width="' + place(width) + '" height="' + place(height) + '" fill="' + color + '"' + (alpha < 1 ? ' fill-opacity="' + alpha + '"' : '') + '/>'),
        frame: (x, y, width, height, color, thick) => parts.push('<rect x="' + place(x) + '" y="' + place(y) + '" width="' + place(width) + '" height="' + place(height) + '" fill="none" stroke="' + color + '" stroke-width="' + thick + '"/>'),
        measure: (text, size, weight) => measure(text, fontOf(size, weight)),
        label: (x, y, room, texts, color, size, weight) => {
            const text = room > 8 ? fitting(texts, room, fontOf(size, weight)) : '';
            if (text) parts.push('<text x="' + place(x) + '" y="' + place(y) + '" dominant-baseline="central" font-size="' + (size || 11) + '" font-weight="' + (weight || 400) + '" fill="' + color + '">' + escaped(text) + '</text>');
        }
    };
}
