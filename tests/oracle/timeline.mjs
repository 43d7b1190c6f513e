// timeline.mjs - verbs of page.mjs for the timeline of a trace's page:
//
//   timeline FILE TRACE.json     zoom, pan, search, choice, range, folding, keys and address by mouse and keyboard; sums against the trace itself
//   timeline-time FILE LIMIT_MS FRAMES    until the first picture (least of 3) and frames a second while it is zoomed in and out; prints JSON
//   timeline-shows FILE          names that mean harm are inert, on the canvas and beside it
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { availableParallelism, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';

const box = '.tracks-box';
const hashOf = (page) => page.evaluate(() => Object.fromEntries(location.hash.slice(1).split('&').filter(Boolean).map((part) => part.split('=').map(decodeURIComponent))));
const painted = (page) => page.waitForFunction((selector) => Number((document.querySelector(selector) || { dataset: {} }).dataset.marks) > 0, box, { timeout: 60000 });
// "120.5-340us" in s
function stretch(text) {
    const [, low, high, unit] = /^([\d.]+)-([\d.]+)(ns|us|ms|s)$/.exec(text), scale = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 }[unit];
    return [low * scale, high * scale];
}
const seconds = (text) => { const [, value, unit] = /([\d.]+) ?(ns|µs|ms|s)/.exec(text); return value * { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1 }[unit]; };
const settle = (page) => page.waitForTimeout(400);

// Device work and calls of the trace: [name, begin, end] in s since the first event.
function traceOf(path) {
    const bytes = readFileSync(path), trace = JSON.parse(path.endsWith('.gz') ? gunzipSync(bytes) : bytes), rows = trace.traceEvents.filter((row) => row.ph === 'X');
    const first = Math.min(...trace.traceEvents.filter((row) => 'ts' in row && ['X', 'i', 'C'].includes(row.ph)).map((row) => row.ts));
    return rows.map((row) => ({ name: row.name, cat: row.cat, begin: (row.ts - first) / 1e6, end: (row.ts - first + (row.dur || 0)) / 1e6 }));
}
const isWork = (row) => ['kernel', 'gpu_memcpy', 'gpu_memset'].includes(row.cat);

export async function use({ open, ready, check, equal }, file, tracePath) {
    const page = await open(file), trace = traceOf(tracePath);
    await ready(page);
    await painted(page);
    const whole = await page.getAttribute(box, 'data-marks');
    check(Number(whole) > 100, `the whole draws ${whole} marks`);
    // the wheel, once it is used; drag; the ruler
    const place = await page.locator(box).boundingBox(), middle = place.x + place.width * 0.6, track = place.y + 120;
    await page.locator(box).scrollIntoViewIfNeeded();
    await page.mouse.move(middle, track);
    const top = await page.evaluate(() => scrollY);
    await page.locator(box).focus();
    await page.mouse.wheel(0, -600);
    await settle(page);
    const zoomed = stretch((await hashOf(page)).at);
    check(zoomed[0] > 0 && zoomed[1] > zoomed[0], `the wheel zooms: ${zoomed}`);
    equal(await page.evaluate(() => scrollY), top, 'the page stays where it is');
    await page.mouse.down();
    await page.mouse.move(middle - 200, track, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const moved = stretch((await hashOf(page)).at);
    check(moved[0] > zoomed[0] && Math.abs(moved[1] - moved[0] - (zoomed[1] - zoomed[0])) < 0.01 * (zoomed[1] - zoomed[0]), `dragging moves it: ${moved}`);
    // keys
    await page.keyboard.press('0');
    await settle(page);
    equal((await hashOf(page)).at, undefined, '0 shows the whole');
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('d');
    await settle(page);
    const keyed = stretch((await hashOf(page)).at);
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    await settle(page);
    const back = stretch((await hashOf(page)).at);
    check(back[0] < keyed[0] && back[1] - back[0] > keyed[1] - keyed[0], `w a s d: ${keyed} then ${back}`);
    // an event by keys: the first of the stream, its neighbour, what launched it
    await page.keyboard.press('0');
    const kernels = trace.filter(isWork).sort((a, b) => a.begin - b.begin);
    await page.locator('#tracks-find').fill(kernels[0].name.slice(0, 40));
    await page.locator('#tracks-find').press('Enter');
    await settle(page);
    const facts = () => page.$$eval('.tracks-about dt', (all) => Object.fromEntries(all.map((term) => [term.textContent, term.nextElementSibling.textContent])));
    const title = (await facts()).name || await page.textContent('.tracks-about h4');
    check(title.startsWith(kernels[0].name.slice(0, 40)), `the first match is chosen: ${title}`);
    check(Math.abs(seconds((await facts()).begins) / kernels[0].begin - 1) < 0.01, `it begins at ${(await facts()).begins}, ${kernels[0].begin}`);
    check('launched by' in await facts(), 'its launch is found');
    await page.locator('.tracks-about dd button').click();
    check('launches' in await facts(), 'the launch leads back');
    const counted = trace.filter((row) => row.name.toLowerCase().includes(kernels[0].name.slice(0, 40).toLowerCase())).length;
    check((await page.textContent('.timeline .answer')).startsWith(`${counted.toLocaleString('en-US')} event`), `${counted} matches: ${await page.textContent('.timeline .answer')}`);
    await page.locator('#tracks-find').press('Escape');
    equal(await page.textContent('.timeline .answer'), '', 'Escape ends the search');
    // walking
    await page.locator(box).focus();
    const event = (await hashOf(page)).event;
    await page.keyboard.press('ArrowRight');
    await settle(page);
    const [row, at] = event.split('.').map(Number), now = (await hashOf(page)).event.split('.').map(Number);
    equal(now.join('.'), `${row}.${at + 1}`, 'the next event of the row');
    await page.keyboard.press('ArrowUp');
    await settle(page);
    check(Number((await hashOf(page)).event.split('.')[0]) < row, 'a row further up');
    check((await page.textContent('.timeline .say')).length > 10, 'what is chosen is said');
    await page.keyboard.press('Enter');
    await settle(page);
    check((await hashOf(page)).at !== undefined, 'Enter zooms to it');
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
    // a range on the ruler, and what it holds
    await page.locator('#tracks-find').evaluate((element) => element.scrollIntoView());
    const again = await page.locator(box).boundingBox();
    await page.mouse.move(again.x + again.width * 0.35, again.y + 40);
    await page.mouse.down();
    await page.mouse.move(again.x + again.width * 0.75, again.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector('.tracks-sums table tbody tr');
    const [low, high] = stretch((await hashOf(page)).span), inside = trace.filter((item) => isWork(item) && Math.min(item.end, high) - Math.max(item.begin, low) > 0);
    await page.selectOption('#tracks-scope', 'device');
    const table = await page.$$eval('.tracks-sums tbody tr', (all) => all.map((line) => Array.from(line.children).map((cell) => cell.textContent)));
    const work = table.filter((line) => ['kernel', 'copy', 'memset'].includes(line[1]));
    equal(work.reduce((sum, line) => sum + Number(line[2]), 0), inside.length, 'events of the range');
    const time = inside.reduce((sum, item) => sum + Math.min(item.end, high) - Math.max(item.begin, low), 0), shown = work.reduce((sum, line) => sum + seconds(line[3]), 0);
    check(Math.abs(shown / time - 1) < 0.02, `time in the range ${shown}, ${time}`);
    const spans = inside.map((item) => [Math.max(low, item.begin), Math.min(high, item.end)]).sort((a, b) => a[0] - b[0]);
    let busy = 0, end = -1;
    for (const [from, to] of spans) if (to > end) { busy += to - Math.max(from, end); end = to; }
    const said = await page.$$eval('.tracks-sums dd', (all) => all.map((item) => item.textContent).find((text) => text.startsWith('busy')));
    check(Math.abs(seconds(said) / busy - 1) < 0.02, `busy in the range: ${said}, ${busy}`);
    // the address holds it all
    await page.locator(box).focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#tracks-find').fill('launch');
    await settle(page);
    const chosen = (await hashOf(page)).event, hash = await page.evaluate(() => location.hash);
    await page.done();
    const other = await open(file, {}, hash);
    await ready(other);
    await other.waitForSelector('.tracks-sums table tbody tr');
    equal(await other.inputValue('#tracks-find'), 'launch', 'the address has the search');
    equal(JSON.stringify(stretch((await hashOf(other)).span)), JSON.stringify([low, high]), 'and the range');
    equal((await hashOf(other)).event, chosen, 'and the event');
    check(await other.isVisible('.tracks-about h4'), 'which is shown');
    // by keys alone: range of what is in view, clear
    await other.locator(box).focus();
    await other.keyboard.press('Escape');
    equal((await hashOf(other)).span, undefined, 'Escape clears the range');
    await other.keyboard.press('r');
    await settle(other);
    check((await hashOf(other)).span !== undefined, 'r takes what is in view');
    await other.done();
    await narrow({ open, ready, check }, file);
}

// On a phone: fingers zoom and move, a tap chooses, the page scrolls.
async function narrow({ open, ready, check }, file) {
    const page = await open(file, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await ready(page);
    await painted(page);
    await page.locator('.timeline .tools button', { hasText: '+' }).tap();
    await page.locator('.timeline .tools button', { hasText: '+' }).tap();
    await settle(page);
    const low = stretch((await hashOf(page)).at);
    await page.locator(box).scrollIntoViewIfNeeded();
    const place = await page.locator(box).boundingBox(), tools = await page.context().newCDPSession(page);
    const touch = (type, points) => tools.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((x, id) => ({ x, y: place.y + 100, id })) });
    await touch('touchStart', [150, 250]);
    await touch('touchMove', [120, 280]);
    await touch('touchMove', [60, 340]);
    await touch('touchEnd', []);
    await settle(page);
    const pinched = stretch((await hashOf(page)).at);
    check(pinched[1] - pinched[0] < 0.6 * (low[1] - low[0]), `two fingers zoom: ${low} to ${pinched}`);
    await page.done();
}

export async function time({ open, check, note }, file, limit, frames) {
    const all = [], own = [], rates = [], busy = loadavg()[0] > availableParallelism();
    let paint = 0;
    for (let i = 0; i < 3; i++) {
        const page = await open('about:blank'), tools = await page.context().newCDPSession(page);
        const used = async () => 1000 * (await tools.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration').value;
        await tools.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 240000 });
        await painted(page);
        all.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))));
        own.push(await used());
        // in to a ten-thousandth and out again, a step in every frame
        const before = await used();
        const zoom = await page.evaluate((selector) => new Promise((done) => {
            const element = document.querySelector(selector), at = element.getBoundingClientRect(), begin = performance.now(), steps = 240;
            let step = 0, longest = 0, last = begin;
            const go = (now) => {
                if (step) longest = Math.max(longest, now - last);
                last = now;
                if (step++ === steps) { done({ frames: steps, took: performance.now() - begin, longest }); return; }
                element.dispatchEvent(new WheelEvent('wheel', { deltaY: step <= steps / 2 ? -24 : 24, ctrlKey: true, clientX: at.left + at.width * 0.6, clientY: at.top + 150, cancelable: true, bubbles: true }));
                requestAnimationFrame(go);
            };
            requestAnimationFrame(go);
        }), box);
        paint = (await used() - before) / zoom.frames;
        rates.push(busy ? 1000 / paint : 1000 * zoom.frames / zoom.took);
        await page.done();
    }
    const first = Math.min(...(busy ? own : all)), rate = Math.max(...rates);
    console.log(JSON.stringify({ picture_ms: all.map(Math.round), own_ms: own.map(Math.round), busy, least_ms: Math.round(first), frames_per_s: Math.round(rate), frame_own_ms: Number(paint.toFixed(1)) }));
    check(first <= limit, `${file}: the first picture after ${first.toFixed(0)} ms, at most ${limit}`);
    check(rate >= frames, `${file}: ${rate.toFixed(0)} frames a second while zooming, at least ${frames}`);
}

export async function shows({ open, ready, check, equal }, file) {
    const page = await open(file);
    await ready(page);
    await painted(page);
    await page.locator(box).focus();
    for (let i = 0; i < 40; i++) await page.keyboard.press(i % 4 === 3 ? 'ArrowDown' : 'ArrowRight');
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.waitForSelector('.tracks-sums table tbody tr');
    await page.selectOption('#tracks-scope', 'all');
    check((await page.$$eval('.tracks-sums tbody tr', (all) => all.length)) > 3, 'the names are listed');
    equal(await page.$$eval('main script, main img, main iframe, main style, main [onerror]', (all) => all.length), 0, 'no name became an element');
    equal(await page.evaluate(() => getComputedStyle(document.body).display), 'block', 'the page is still there');
    await page.done();
}
