/* unpack.js - runs first: the page carries its script and its data deflated (RFC 1950, 1951) as base64. This puts the script, whose hash the policy allows,
 * into the page; data is unpacked when it is first read. Not asynchronous, as a browser's own DecompressionStream is: the first picture does not wait. */
'use strict';

/* What the next 15 bits begin with: symbol * 16 + its number of bits. */
function assayCodes(lengths) {
    const table = new Uint16Array(1 << 15);
    let code = 0;
    for (let length = 1; length < 16; length++, code <<= 1)
        for (let symbol = 0; symbol < lengths.length; symbol++) {
            if (lengths[symbol] !== length) continue;
            let first = 0;
            for (let i = 0; i < length; i++) first |= (code >> i & 1) << (length - 1 - i);
            for (code++; first < table.length; first += 1 << length) table[first] = symbol << 4 | length;
        }
    return table;
}
/* The `size` bytes that were deflated to `from`. */
function assayInflate(from, size) {
    const out = new Uint8Array(size), order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let at = 2, bits = 0, have = 0, made = 0, last = 0;
    const fill = (count) => { while (have < count) { bits |= from[at++] << have; have += 8; } };
    const take = (count) => { fill(count); const value = bits & ((1 << count) - 1); bits >>>= count; have -= count; return value; };
    const symbol = (table) => { fill(15); const found = table[bits & 32767]; bits >>>= found & 15; have -= found & 15; return found >> 4; };
    const lengthsOf = () => { /* of literals, then of distances */
        const literals = take(5) + 257, all = literals + take(5) + 1, few = take(4) + 4, own = new Uint8Array(19), lengths = new Uint8Array(all);
        for (let i = 0; i < few; i++) own[order[i]] = take(3);
        const table = assayCodes(own);
        for (let i = 0; i < all;) {
            const code = symbol(table), same = code === 16 ? lengths[i - 1] : 0, count = code < 16 ? 1 : code === 16 ? take(2) + 3 : code === 17 ? take(3) + 3 : take(7) + 11;
            lengths.fill(code < 16 ? code : same, i, i += count);
        }
        return [lengths.subarray(0, literals), lengths.subarray(literals)];
    };
    while (!last && at < from.length) {
        last = take(1);
        const type = take(2);
        if (type === 0) {
            at -= have >> 3;
            bits = have = 0;
            const count = from[at] | from[at + 1] << 8;
            out.set(from.subarray(at + 4, at + 4 + count), made);
            at += 4 + count;
            made += count;
            continue;
        }
        const [literals, distances] = (type === 2 ? lengthsOf() : [Uint8Array.from({length: 288}, (none, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8), new Uint8Array(30).fill(5)]).map(assayCodes);
        for (let code = symbol(literals); code !== 256 && made < size; code = symbol(literals)) {
            if (code < 256) { out[made++] = code; continue; }
            const run = code - 257, more = run < 8 || run === 28 ? 0 : (run >> 2) - 1, length = run < 8 ? run + 3 : run === 28 ? 258 : 3 + (4 + (run & 3) << more) + take(more);
            const far = symbol(distances), extra = far < 4 ? 0 : (far >> 1) - 1, back = far < 4 ? far + 1 : 1 + (2 + (far & 1) << extra) + take(extra);
            for (const end = made + length; made < end; made++) out[made] = out[made - back];
        }
    }
    return out;
}
/* The text of a block of the page. */
function assayText(id) {
    const block = document.getElementById(id);
    if (block.type !== 'application/zlib') return block.textContent;
    const text = atob(block.textContent), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TextDecoder().decode(assayInflate(bytes, Number(block.getAttribute('data-bytes'))));
}
(function () {
    const script = document.createElement('script');
    script.textContent = assayText('assay-script');
    document.body.append(script);
})();
