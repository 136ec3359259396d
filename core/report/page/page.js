'use strict';
/* What draws a page of mystique-sim: the answer as --json has it, bars of the
 * timeline as columns, planes of the sliders. Texts of traces become text nodes
 * and attributes alone. */
(async () => {
const main = document.querySelector('main');

/* ---- elements ------------------------------------------------------------ */

function make(name, attributes, children, space) {
  const e = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key === 'style') Object.assign(e.style, value);
    else if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value);
  for (const child of [].concat(children === undefined ? [] : children))
    if (child !== null && child !== undefined) e.append(child);
  return e;
}
const svg = (name, attributes, children) =>
  make(name, attributes, children, document.querySelector('svg').namespaceURI);
const section = (title, children) => {
  const e = make('section', {}, [make('h2', {}, title)].concat(children));
  main.append(e);
  return e;
};

/* ---- figures ------------------------------------------------------------- */

const known = x => typeof x === 'number' && isFinite(x);
function digits(x, n) {
  return Math.abs(x) >= 10 ** n ? x.toFixed(0) : x.toPrecision(n);
}
function scaled(x, units, step) {
  if (!known(x)) return '';
  let i = 0, y = x;
  while (Math.abs(y) >= step && i + 1 < units.length) { y /= step; i++; }
  return (y === 0 ? '0' : digits(y, 3)) + ' ' + units[i];
}
function time(us) {
  if (!known(us)) return '';
  const a = Math.abs(us);
  return a >= 1e6 ? digits(us / 1e6, 4) + ' s' : a >= 1e3 ? digits(us / 1e3, 4) + ' ms'
    : a === 0 ? '0 \u00b5s' : a >= 0.01 ? digits(us, 3) + ' \u00b5s' : digits(us * 1e3, 3) + ' ns';
}
/* As a tic of an axis: without zeros behind the point. */
const tic = text => text.replace(/(\.[0-9]*?)0+(?= )/, '$1').replace(/\.(?= )/, '');
const even = span => { const e = 10 ** Math.floor(Math.log10(span)); return [0.2, 0.5, 1, 2].map(k => k * e).find(s => span / s <= 5); };
/* Names as the text report has them. */
const short = name => name.replace('autograd::engine::evaluate_function: ', '');
const bytes = x => scaled(x, ['B', 'kB', 'MB', 'GB', 'TB'], 1000);
const held = x => scaled(x, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const flop = x => scaled(x, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP'], 1000);
const percent = x => known(x) ? (100 * x).toFixed(Math.abs(x) < 0.0995 ? 1 : 0) + ' %' : '';
const plain = x => known(x) ? String(+x.toPrecision(4)) : '';
const times = x => known(x) ? '\u00d7 ' + x.toFixed(3) : '';
const range = f => known(f.low) && f.low !== f.high
  ? '90 %: ' + time(f.low) + ' to ' + time(f.high) : '';
const COLOURS = {compute: '#2f6db5', communication: '#d9822b', memory_copy: '#3a9a62',
  host: '#7a5ea8', idle: '#b9c0ca', kernel: '#2f6db5', gpu_memcpy: '#3a9a62',
  cpu_op: '#8f98a5', cuda_runtime: '#7a5ea8', wait: '#e6d9c3'};
const PALETTE = ['#2f6db5', '#d9822b', '#3a9a62', '#7a5ea8', '#b3261e', '#8f98a5', '#1f9aa5', '#a5791f'];

/* ---- parts --------------------------------------------------------------- */

const card = (what, figure, below) => figure
  ? make('div', {class: 'card'}, [make('span', {}, what), make('b', {}, figure), make('span', {}, below || '')]) : null;

function stack(parts) {
  const sum = parts.reduce((s, p) => s + Math.max(0, p[1] || 0), 0) || 1;
  return [
    make('div', {class: 'stack', role: 'img', 'aria-label': parts.map(p => p[0] + ' ' + percent(p[1] / sum)).join(', ')},
      parts.filter(p => p[1] > 0).map(p => make('i', {title: p[0] + ' ' + time(p[1]), style: {width: 100 * p[1] / sum + '%', background: p[2]}}))),
    make('div', {class: 'key'}, parts.filter(p => p[1] > 0).map(p =>
      make('span', {}, [make('i', {style: {background: p[2]}}), p[0].replace('_', ' ') + ' ' + time(p[1]) + ', ' + percent(p[1] / sum)])))];
}
const breakdown = b => stack(Object.keys(b).map(k => [k, b[k], COLOURS[k]]));

/* A table that is sorted by its heads. Columns: [head, value, shown, is text].
 * A row has as many cells; `shown` makes a text or a node of value and row. */
const value = (row, c) => typeof c[1] === 'function' ? c[1](row) : row[c[1]];
function table(columns, rows, first) {
  const first_column = columns[first];
  columns = columns.filter((c, i) => i === 0 || !rows.length || rows.some(r => (v => v !== null && v !== undefined && v === v && v !== '')(value(r, c))));
  const body = make('tbody'), heads = [];
  let by = columns.indexOf(first_column), down = true;
  function fill() {
    const order = rows.slice();
    if (by >= 0) {
      const c = columns[by];
      order.sort((a, b) => {
        const x = value(a, c), y = value(b, c);
        if (x === y) return 0;
        if (x === null || x === undefined || x !== x) return 1;
        if (y === null || y === undefined || y !== y) return -1;
        return (x < y ? -1 : 1) * (down ? -1 : 1);
      });
    }
    heads.forEach((h, i) => i === by ? h.setAttribute('aria-sort', down ? 'descending' : 'ascending') : h.removeAttribute('aria-sort'));
    body.replaceChildren(...order.map(row => make('tr', {}, columns.map(c => {
      const v = value(row, c);
      return make('td', c[3] ? {} : {class: 'n'}, c[2] ? c[2](v, row) : v === null || v === undefined ? '' : String(v));
    }))));
  }
  columns.forEach((c, i) => heads.push(make('th', c[3] ? {} : {class: 'n'}, make('button', {type: 'button', onclick: () => {
    down = by === i ? !down : !c[3];
    by = i;
    fill();
  }}, c[0]))));
  fill();
  const e = make('div', {class: 'scroll'}, make('table', {}, [make('thead', {}, make('tr', {}, heads)), body]));
  e.show = wanted => { rows = wanted; fill(); };
  return e;
}

/* With a field that filters by a text of each row. */
function filtered(columns, rows, first, text) {
  const t = table(columns, rows, first);
  const field = make('input', {type: 'search', placeholder: 'filter by name', 'aria-label': 'filter by name',
    oninput: () => { const w = field.value.toLowerCase(); t.show(rows.filter(r => text(r).toLowerCase().includes(w))); }});
  return [make('div', {class: 'tools'}, field), t];
}
function folded(title, rows, columns, first) {
  return rows && rows.length ? make('details', {}, [make('summary', {}, title + ' (' + rows.length + ')'), table(columns, rows, first)]) : null;
}

/* ---- sliders ------------------------------------------------------------- */

const FACTORS = [];
for (let i = 2; i < 20; i++) FACTORS.push(i * 5 / 100);
for (let i = 10; i < 20; i++) FACTORS.push(i / 10);
for (let i = 8; i <= 16; i++) FACTORS.push(i / 4);

function sliders(p, answer) {
  const all = ['kernels', 'host', 'communication', 'network'];
  const has = all.filter(c => p.classes.includes(c) || (c === 'communication' && p.classes.includes('network')));
  const at = Object.fromEntries(all.map(c => [c, 1]));
  const period = () => {
    const f = p.classes.map(c => c === 'network' ? at.communication * at.network : at[c]);
    return Math.max(...p.planes.map(q => f.reduce((s, x, i) => s + q[i + 1] * x, q[0])));
  };
  const base = period();
  const out = make('output', {class: 'answer', id: 'period', 'aria-live': 'polite'});
  const command = make('code', {id: 'command'});
  const inputs = [];
  function say() {
    const us = period(), chosen = has.filter(c => at[c] !== 1);
    out.textContent = 'period ' + time(us) + ', ' + times(us / base);
    out.dataset.us = us;
    command.textContent = chosen.length
      ? chosen.map(c => '--scale ' + (c === 'network' ? 'link:network' : c) + '=' + plain(at[c])).join(' ') : 'nothing is changed';
  }
  const grid = make('div', {class: 'sliders'});
  for (const c of has) {
    const label = make('span', {});
    const input = make('input', {type: 'range', id: 'slider-' + c, min: 0, max: FACTORS.length - 1, step: 1, value: FACTORS.indexOf(1),
      'aria-label': 'time of ' + c, oninput: () => {
        at[c] = FACTORS[+input.value];
        label.textContent = '\u00d7 ' + plain(at[c]) + (at[c] < 1 ? ', ' + plain(1 / at[c]) + ' times as fast' : '');
        input.setAttribute('aria-valuetext', label.textContent);
        say();
      }});
    label.textContent = '\u00d7 1';
    inputs.push(input);
    grid.append(make('label', {for: 'slider-' + c}, c), input, label);
  }
  const again = make('button', {type: 'button', onclick: () => {
    for (const i of inputs) { i.value = FACTORS.indexOf(1); i.dispatchEvent(new Event('input')); }
  }}, 'as predicted');
  /* "#kernels=0.5&host=0.8": where sliders stand, so that it can be sent. */
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const c of has) {
    const i = FACTORS.indexOf(+asked.get(c)), input = inputs[has.indexOf(c)];
    if (i >= 0) { input.value = i; input.dispatchEvent(new Event('input')); }
  }
  say();
  section('What if it took less, or more?', [
    make('p', {class: 'soft screen'}, 'Sliders multiply the time of all work of a kind.'), grid,
    make('div', {class: 'tools'}, again), make('p', {}, out), make('p', {class: 'soft'}, ['The same by the program: ', command]),
    make('p', {class: 'soft'}, 'Computed here, from ' + p.planes.length + ' paths of the simulated graph. At ' + p.checked +
      ' points from ' + plain(p.least) + ' to ' + plain(p.most) + ' times that were simulated besides, it was off by at most ' +
      plain(100 * p.deviation) + ' %' + (p.deviation > 0.01 ? ': take --scale where that matters.' : '.'))]);
}

/* ---- the timeline -------------------------------------------------------- */

function columns(head, raw) {
  let at = 0;
  const number = () => {
    let x = 0, by = 1, b;
    do { b = raw[at++]; x += (b & 127) * by; by *= 128; } while (b > 127);
    return x;
  };
  const signed = () => { const x = number(); return x % 2 ? -(x + 1) / 2 : x / 2; };
  const n = head.lanes.reduce((s, l) => s + l.n, 0);
  const t = {n, begin: new Float64Array(n), end: new Float64Array(n), name: new Uint32Array(n), kind: new Uint8Array(n), critical: new Uint8Array(n)};
  const gap = new Float64Array(n);
  for (let i = 0; i < n; i++) gap[i] = signed();
  let i = 0;
  for (const lane of head.lanes) {
    lane.first = i;
    for (let end = 0, k = 0; k < lane.n; k++, i++) {
      t.begin[i] = end + gap[i];
      end = t.end[i] = t.begin[i] + number();
    }
  }
  for (i = 0; i < n; i++) t.name[i] = number();
  for (i = 0; i < n; i++) { const x = number(); t.kind[i] = x >> 1; t.critical[i] = x & 1; }
  return t;
}

function timeline(head, raw) {
  const t = columns(head, raw), us = head.unit_ps / 1e6, ROW = 34;
  const lanes = head.lanes.filter(l => l.n);
  if (!t.n) return;
  let from = Infinity, to = -Infinity;
  for (let i = 0; i < t.n; i++) { if (t.begin[i] < from) from = t.begin[i]; if (t.end[i] > to) to = t.end[i]; }
  const whole = [from, to], wait = head.kinds.indexOf('wait');
  const canvas = make('canvas', {tabindex: 0, id: 'timeline', role: 'application', 'aria-label': 'timeline: arrows move, + and - zoom, 0 shows all, . and , go to the next and previous bar, up and down change lanes'});
  const said = make('p', {class: 'said', 'aria-live': 'polite'});
  const holder = make('div', {class: 'lanes'}, canvas);
  let selected = -1, width = 0, asked = false, row = 0;
  const lane_of = i => lanes.findIndex(l => i >= l.first && i < l.first + l.n);
  const x_of = v => (v - from) / (to - from) * width;
  /* The first bar of a lane that ends after `v`. */
  function first_after(l, v) {
    let lo = l.first, hi = l.first + l.n;
    while (lo < hi) { const mid = lo + hi >> 1; if (t.end[mid] < v) lo = mid + 1; else hi = mid; }
    return lo;
  }
  function ticks(g) {
    const span = (to - from) * us, step = 10 ** Math.floor(Math.log10(span / (width / 90)));
    const by = [1, 2, 5, 10].map(k => k * step).find(s => span / s < width / 90) || 10 * step;
    g.fillStyle = '#5a6472';
    g.font = '11px system-ui,sans-serif';
    for (let v = Math.ceil((from - whole[0]) * us / by) * by; v <= (to - whole[0]) * us; v += by) {
      const x = x_of(v / us + whole[0]);
      g.fillRect(x, 12, 1, 5);
      g.fillText(tic(time(v)), x + 3, 11);
    }
  }
  function draw_lane(g, l, y) {
    let last = -1, bars = 0;
    g.fillStyle = '#5a6472';
    g.font = '11px system-ui,sans-serif';
    g.fillText((l.rank === null ? '' : 'rank ' + l.rank + ', ') + l.name, 4, y + 10);
    for (let i = first_after(l, from), end = l.first + l.n; i < end && t.begin[i] <= to; i++) {
      const x = Math.max(0, x_of(t.begin[i])), w = Math.min(width, x_of(t.end[i])) - x;
      const pixel = Math.floor(2 * x);
      if (w < 0.5 && pixel === last && !t.critical[i]) continue;
      last = pixel;
      bars++;
      const is_wait = t.kind[i] === wait;
      g.fillStyle = COLOURS[head.kinds[t.kind[i]]] || '#8f98a5';
      g.fillRect(x, y + (is_wait ? 20 : 13), Math.max(w, 0.6), is_wait ? 4 : 14);
      if (t.critical[i]) { g.fillStyle = '#b3261e'; g.fillRect(x, y + 27, Math.max(w, 0.8), 3); }
      if (i === selected) { g.strokeStyle = '#111'; g.lineWidth = 2; g.strokeRect(x, y + 12, Math.max(w, 2), 17); }
      if (w > 46 && !is_wait) {
        g.fillStyle = '#fff';
        g.save(); g.beginPath(); g.rect(x + 2, y + 13, w - 4, 14); g.clip();
        g.fillText(head.names[t.name[i]], x + 4, y + 24);
        g.restore();
      }
    }
    return bars;
  }
  function draw() {
    asked = false;
    const ratio = window.devicePixelRatio || 1;
    width = holder.clientWidth || 600;
    const height = 20 + lanes.length * ROW;
    canvas.width = width * ratio; canvas.height = height * ratio;
    canvas.style.height = height + 'px';
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    g.fillStyle = '#fff'; g.fillRect(0, 0, width, height);
    g.fillStyle = '#f4f6f9';
    for (const s of head.steps) {
      const i = head.steps.indexOf(s);
      if (i % 2 === 0) g.fillRect(x_of(s.start), 18, x_of(s.start + s.length) - x_of(s.start), height);
    }
    ticks(g);
    let bars = 0;
    lanes.forEach((l, i) => { bars += draw_lane(g, l, 20 + i * ROW); });
    canvas.dataset.bars = bars;
    canvas.dataset.span = (to - from) * us;
  }
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
  function look(a, b) {
    const least = Math.max(10, (whole[1] - whole[0]) * 1e-7), w = Math.min(Math.max(b - a, least), whole[1] - whole[0]);
    from = Math.min(Math.max(a, whole[0]), whole[1] - w);
    to = from + w;
    ask();
  }
  const zoom = (by, x) => { const c = from + (x === undefined ? 0.5 : x / width) * (to - from); look(c - (c - from) * by, c + (to - c) * by); };
  const move = by => look(from + by * (to - from), to + by * (to - from));
  function select(i, show) {
    if (i < 0 || i >= t.n) return;
    selected = i;
    row = lane_of(i);
    const l = lanes[row];
    said.textContent = head.names[t.name[i]] + ': ' + time((t.end[i] - t.begin[i]) * us) + ' from ' + time((t.begin[i] - whole[0]) * us) +
      ' (' + head.kinds[t.kind[i]] + ', ' + (l.rank === null ? '' : 'rank ' + l.rank + ', ') + l.name + (t.critical[i] ? ', on the critical path' : '') + ')';
    if (show && (t.begin[i] < from || t.end[i] > to)) { const w = to - from; look((t.begin[i] + t.end[i] - w) / 2, (t.begin[i] + t.end[i] + w) / 2); }
    ask();
  }
  function under(x, y) {
    const l = lanes[Math.floor((y - 20) / ROW)], v = from + x / width * (to - from), near = 2 / width * (to - from);
    if (!l) return -1;
    for (let i = Math.max(l.first, first_after(l, v - near) - 1); i < l.first + l.n && t.begin[i] <= v + near; i++)
      if (t.end[i] >= v - near) return i;
    return -1;
  }
  function next_critical() {
    const l = lanes[row];
    for (let k = 1; k <= t.n; k++) { const i = ((selected < 0 ? l.first - 1 : selected) + k) % t.n; if (t.critical[i]) return select(i, true); }
  }
  canvas.addEventListener('wheel', e => {
    if (!e.ctrlKey && document.activeElement !== canvas) return;
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(e.deltaX / width);
    else zoom(e.deltaY > 0 ? 1.25 : 0.8, e.offsetX);
  }, {passive: false});
  const fingers = new Map();
  canvas.addEventListener('pointerdown', e => { fingers.set(e.pointerId, e.offsetX); canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointermove', e => {
    if (!fingers.has(e.pointerId)) return select(under(e.offsetX, e.offsetY));
    const before = fingers.get(e.pointerId), other = [...fingers.keys()].find(k => k !== e.pointerId);
    if (other === undefined) move((before - e.offsetX) / width);
    else {
      const o = fingers.get(other), was = Math.abs(before - o), is = Math.abs(e.offsetX - o);
      if (was > 4 && is > 4) zoom(was / is, (e.offsetX + o) / 2);
    }
    fingers.set(e.pointerId, e.offsetX);
  });
  for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, e => {
    fingers.delete(e.pointerId);
    select(under(e.offsetX, e.offsetY));
  });
  canvas.addEventListener('dblclick', e => zoom(0.25, e.offsetX));
  const keys = {
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '+': () => zoom(0.6), '=': () => zoom(0.6), '-': () => zoom(1 / 0.6), '0': () => look(...whole), Home: () => look(...whole),
    '.': () => select(selected + 1, true), ',': () => select(selected - 1, true), c: next_critical,
    ArrowDown: () => select(first_after(lanes[Math.min(row + 1, lanes.length - 1)], from), true),
    ArrowUp: () => select(first_after(lanes[Math.max(row - 1, 0)], from), true)};
  canvas.addEventListener('keydown', e => { const f = e.ctrlKey || e.metaKey ? null : keys[e.key]; if (f) { e.preventDefault(); f(); } });
  const button = (text, what) => make('button', {type: 'button', onclick: what}, text);
  new ResizeObserver(ask).observe(holder);
  window.addEventListener('beforeprint', draw);
  section('Timeline', [
    make('div', {class: 'tools'}, [button('zoom in', () => zoom(0.5)), button('zoom out', () => zoom(2)), button('\u25c0', () => move(-0.4)), button('\u25b6', () => move(0.4)),
      button('all', () => look(...whole)), button('next on the critical path', next_critical)]),
    make('div', {class: 'key'}, head.kinds.filter(k => k).map(k => make('span', {}, [make('i', {style: {background: COLOURS[k] || '#8f98a5'}}), k.replace('_', ' ')])).concat(
      make('span', {}, [make('i', {style: {background: '#b3261e'}}), 'critical path']))),
    holder, said,
    make('p', {class: 'soft screen'}, t.n + ' bars. Drag to move, Ctrl and wheel to zoom; with the focus on it: arrows, + and -, 0, comma and point for bars, c for the critical path.')]);
  draw();
}

/* ---- charts -------------------------------------------------------------- */

/* Powers of ten from a to b as ticks of a logarithmic axis. */
function decades(a, b) {
  const list = [];
  for (let e = Math.ceil(Math.log10(a)); e <= Math.log10(b) + 1e-9; e++) list.push(10 ** e);
  return list;
}

function roofline(p) {
  const named = (p.shapes && p.shapes.length ? p.shapes : p.ops).filter(o => o.flops > 0 && o.bytes > 0 && o.flops_per_second > 0);
  if (!named.length) return;
  const bandwidth = p.memory_bandwidth_bytes_per_second, peaks = [...new Set(named.map(o => o.peak_flops_per_second).filter(known).map(x => +x.toPrecision(3)))].sort((a, b) => b - a).slice(0, 5);
  const W = 720, H = 400, L = 74, B = 46, R = 16, T = 14;
  const xs = named.map(o => o.intensity), ys = named.map(o => o.flops_per_second).concat(peaks);
  const x0 = Math.min(...xs) / 2, x1 = Math.max(...xs, bandwidth ? peaks[0] / bandwidth : 0) * 3, y0 = Math.min(...ys) / 2, y1 = Math.max(...ys) * 2;
  const X = v => L + Math.log(v / x0) / Math.log(x1 / x0) * (W - L - R), Y = v => H - B - Math.log(v / y0) / Math.log(y1 / y0) * (H - B - T);
  const chart = svg('svg', {viewBox: '0 0 ' + W + ' ' + H, role: 'group', 'aria-label': 'roofline: FLOP/s over FLOP per byte'});
  for (const v of decades(x0, x1)) chart.append(svg('line', {x1: X(v), x2: X(v), y1: T, y2: H - B, stroke: '#e6e9ee'}), svg('text', {x: X(v), y: H - B + 16, 'text-anchor': 'middle'}, plain(v)));
  for (const v of decades(y0, y1)) chart.append(svg('line', {x1: L, x2: W - R, y1: Y(v), y2: Y(v), stroke: '#e6e9ee'}), svg('text', {x: L - 6, y: Y(v) + 4, 'text-anchor': 'end'}, tic(scaled(v, ['', 'k', 'M', 'G', 'T', 'P'], 1000))));
  chart.append(svg('text', {x: (L + W) / 2, y: H - 8, 'text-anchor': 'middle'}, 'FLOP per byte of device memory'), svg('text', {x: 14, y: H / 2, 'text-anchor': 'middle', transform: 'rotate(-90 14 ' + H / 2 + ')'}, 'FLOP/s'));
  const labels = []; /* above all circles */
  for (const peak of peaks) {
    const knee = bandwidth ? Math.max(x0, peak / bandwidth) : x0;
    if (knee >= x1) continue;
    chart.append(svg('line', {x1: X(knee), x2: W - R, y1: Y(peak), y2: Y(peak), stroke: '#5a6472', 'stroke-width': 1.5}));
    labels.push(svg('text', {x: X(knee) + 8, y: Y(peak) - 5}, flop(peak) + '/s'));
  }
  if (bandwidth && peaks.length) {
    const a = Math.max(x0, y0 / bandwidth), b = Math.min(x1, peaks[0] / bandwidth);
    if (a < b) {
      chart.append(svg('line', {x1: X(a), y1: Y(a * bandwidth), x2: X(b), y2: Y(b * bandwidth), stroke: '#5a6472', 'stroke-width': 1.5}));
      labels.push(svg('text', {x: X(Math.sqrt(a * b)) - 8, y: Math.max(Y(Math.sqrt(a * b) * bandwidth) - 6, T + 12), 'text-anchor': 'end'}, bytes(bandwidth) + '/s'));
    }
  }
  const most = Math.max(...named.map(o => o.predicted_us)), said = make('p', {class: 'said', 'aria-live': 'polite'});
  const limits = [...new Set(named.map(o => o.limit))];
  for (const o of named) {
    const text = o.name + (o.shapes ? ' ' + o.shapes : '') + ': ' + time(o.predicted_us) + ', ' + plain(o.intensity) + ' FLOP/B, ' + flop(o.flops_per_second) + '/s, ' + bytes(o.bytes_per_second) + '/s' +
      (known(o.peak_share) ? ', ' + percent(o.peak_share) + ' of the peak of ' + o.limit : '');
    const show = () => { said.textContent = text; };
    chart.append(svg('circle', {cx: X(o.intensity), cy: Y(o.flops_per_second), r: 3 + 12 * Math.sqrt(o.predicted_us / most), fill: PALETTE[limits.indexOf(o.limit) % 8], 'fill-opacity': 0.55, stroke: '#fff', tabindex: 0, 'aria-label': text, onfocus: show, onpointerenter: show, onclick: show}, svg('title', {}, text)));
  }
  chart.append(...labels);
  section('Roofline', [chart, make('div', {class: 'key'}, limits.map((l, i) => make('span', {}, [make('i', {style: {background: PALETTE[i % 8]}}), 'limited by ' + (l || 'what is not known')]))), said,
    make('p', {class: 'soft'}, 'One circle ' + (p.shapes && p.shapes.length ? 'an operator and shape' : 'an operator') + '; its area is its time. Above the slope: bytes that came from a cache.')]);
}

function memory(p) {
  const m = p.memory_bytes, points = m && m.timeline;
  if (!points || points.length < 2) return;
  const kinds = Object.keys(points.reduce((a, b) => Object.assign(a, b.by), {}));
  const W = 720, H = 300, L = 74, B = 40, R = 16, T = 14;
  const t0 = points[0].at_us, t1 = points[points.length - 1].at_us;
  const total = q => kinds.reduce((s, k) => s + (q.by[k] || 0), 0);
  const most = Math.max(...points.map(total), known(m.capacity) && m.capacity < 1.6 * m.peak ? m.capacity : 0) * 1.05;
  const X = v => L + (v - t0) / (t1 - t0 || 1) * (W - L - R), Y = v => H - B - v / most * (H - B - T);
  const chart = svg('svg', {viewBox: '0 0 ' + W + ' ' + H, role: 'img', 'aria-label': 'memory over time, at most ' + held(m.peak)});
  const below = points.map(() => 0);
  kinds.forEach((k, n) => {
    const lower = below.slice(), up = [], down = [];
    points.forEach((q, i) => {
      below[i] += q.by[k] || 0;
      const until = i + 1 < points.length ? points[i + 1].at_us : q.at_us;
      up.push(X(q.at_us).toFixed(1) + ',' + Y(below[i]).toFixed(1), X(until).toFixed(1) + ',' + Y(below[i]).toFixed(1));
      down.unshift(X(until).toFixed(1) + ',' + Y(lower[i]).toFixed(1), X(q.at_us).toFixed(1) + ',' + Y(lower[i]).toFixed(1));
    });
    chart.append(svg('polygon', {points: up.concat(down).join(' '), fill: PALETTE[n % 8], 'fill-opacity': 0.8}));
  });
  const unit = 1024 ** Math.floor(Math.log2(most) / 10), by = unit * even(most / unit);
  for (let v = 0; v <= most; v += by) chart.append(svg('text', {x: L - 6, y: Y(v) + 4, 'text-anchor': 'end'}, tic(held(v))));
  for (let v = 0, by = even(t1 - t0 || 1); v <= t1 - t0; v += by) chart.append(svg('text', {x: X(t0 + v), y: H - B + 18, 'text-anchor': 'middle'}, tic(time(v))));
  if (known(m.capacity) && m.capacity <= most) chart.append(svg('line', {x1: L, x2: W - R, y1: Y(m.capacity), y2: Y(m.capacity), stroke: '#b3261e', 'stroke-dasharray': '5 4'}), svg('text', {x: W - R, y: Y(m.capacity) - 5, 'text-anchor': 'end'}, 'what programs get of the GPU'));
  section('Memory over time', [chart, make('div', {class: 'key'}, kinds.map((k, i) => make('span', {}, [make('i', {style: {background: PALETTE[i % 8]}}), k.replace(/_/g, ' ')])))]);
}

/* ---- answers ------------------------------------------------------------- */

const warnings = list => list && list.length ? make('ul', {class: 'worse'}, list.map(w => make('li', {}, w))) : null;

function sizes(rows) {
  const sum = rows.reduce((s, o) => s + (o.communication ? 0 : o.predicted_us), 0) || 1;
  return [['operator', 'name', short, true], ['calls', 'calls', plain], ['time', 'predicted_us', time], ['of kernels', o => o.communication ? null : o.predicted_us / sum, percent], ['measured', 'measured_us', time], ['limited by', 'limit', null, true],
    ['of its peak', 'peak_share', percent], ['FLOP', 'flops', flop], ['bytes', 'bytes', bytes], ['FLOP/B', 'intensity', plain], ['FLOP/s', 'flops_per_second', v => known(v) ? flop(v) + '/s' : ''],
    ['B/s', 'bytes_per_second', v => known(v) ? bytes(v) + '/s' : ''], ['90 % from', 'low_us', time], ['to', 'high_us', time], ['model', 'model', null, true], ['known by', 'source', null, true]];
}

async function prediction(p) {
  const m = p.memory_bytes || {};
  main.append(make('p', {class: 'verdict'}, p.verdict || ''), make('div', {class: 'cards'}, [
    card('from one iteration to the next', time(p.period_us.predicted), range(p.period_us)), card('an iteration', time(p.iteration_us.predicted), range(p.iteration_us)),
    known(p.period_us.measured) ? card('period as measured', time(p.period_us.measured), '') : null,
    card('kernels', time(p.kernel_us.predicted), range(p.kernel_us)), known(m.peak) ? card('memory of a GPU', held(m.peak), m.fits ? 'fits: ' + m.fits : '') : null,
    known(p.mfu) ? card('of the peak arithmetic', percent(p.mfu), flop(p.flops) + ' an iteration') : null,
    p.scenario && known(p.scenario.ratio) ? card('to the run without the change', times(p.scenario.ratio), p.scenario.options.join(' ')) : null,
    p.throughput ? card((p.throughput.unit || 'units') + ' a second', digits(p.throughput.per_second, 4), '') : null,
    known(p.cost_usd) ? card('an iteration costs', digits(p.cost_usd, 3) + ' USD', '') : null]));
  main.append(...[warnings(p.warnings)].filter(Boolean));
  section('Where the time goes', breakdown(p.breakdown_us));
  const planes = await json('planes');
  if (planes) sliders(planes, p);
  const head = await json('bars-head');
  if (head) timeline(head, await unpack('bars'));
  const ops = sizes(p.ops);
  section('Operators', filtered(ops, p.ops, 2, o => o.name));
  if (p.shapes && p.shapes.length) main.lastChild.append(make('details', {}, [make('summary', {}, 'by shape (' + p.shapes.length + ')'),
    table([ops[0], ['shapes', 'shapes', null, true]].concat(ops.slice(1, 4), ops.slice(5, 12)), p.shapes, 3)]));
  roofline(p);
  memory(p);
  const named = o => Object.keys(o || {}).map(k => ({name: k, us: o[k]}));
  section('More', [
    folded('Owners of the critical path', p.critical_owners, [['owner', 'name', short, true], ['kind', 'kind', null, true], ['time', 'us', time], ['share', 'share', percent], ['pieces', 'pieces', plain]], 2),
    folded('Waits of the main thread', named((p.waits_us || {}).main_thread), [['for', 'name', null, true], ['time', 'us', time]], 1),
    folded('The GPU is idle', named((p.waits_us || {}).gpu_idle), [['for', 'name', null, true], ['time', 'us', time]], 1),
    folded('Collectives', p.collectives, [['collective', 'name', null, true], ['group', 'group', null, true], ['size', 'bytes', bytes], ['ranks', 'ranks', plain], ['calls', 'calls', plain], ['transfer', 'transfer_us', time], ['wait', 'wait_us', time]], 5),
    folded('Kernels', p.kernels, [['kernel', 'name', null, true], ['kind', 'kind', null, true], ['calls', 'calls', plain], ['time', 'predicted_us', time], ['measured', 'measured_us', time]], 3),
    folded('The host', p.host_ops, [['work', 'name', null, true], ['kind', 'kind', null, true], ['calls', 'calls', plain], ['time', 'predicted_us', time]], 3),
    folded('Phases', p.phases, [['phase', 'name', null, true], ['GPU', 'gpu_us', time], ['host', 'host_us', time]]),
    folded('Iterations', p.iterations, [['iteration', 'name', null, true], ['time', 'predicted_us', time], ['measured', 'measured_us', time], ['state', 'state', null, true]])].filter(Boolean));
  return [p.platform ? 'on ' + p.platform : 'as measured', 'costs: ' + p.costs, p.host ? 'host: ' + p.host : null].filter(Boolean).join(', ');
}

function comparison(c) {
  const longer = f => known(f.ratio) ? times(f.ratio) : '';
  const pair = (what, f) => known(f.a) || known(f.b) ? card(what, longer(f), time(f.a) + ' \u2192 ' + time(f.b)) : null;
  main.append(make('p', {class: 'soft'}, 'a: ' + c.a.input + (c.a.platform ? ' on ' + c.a.platform : '')), make('p', {class: 'soft'}, 'b: ' + c.b.input + (c.b.platform ? ' on ' + c.b.platform : '')),
    make('div', {class: 'cards'}, [pair('from one iteration to the next', c.period_us), pair('an iteration', c.iteration_us), pair('kernels', c.kernel_us), pair('as measured', c.measured_us)]));
  main.append(...[warnings(c.warnings)].filter(Boolean));
  const change = [['name', 'name', short, true], ['a calls', 'a_calls', plain], ['b calls', 'b_calls', plain], ['a', 'a_us', time], ['b', 'b_us', time],
    ['difference', r => Math.abs(r.difference_us || 0), (v, r) => make('span', {class: r.difference_us > 0 ? 'worse' : ''}, (r.difference_us > 0 ? '+' : '') + time(r.difference_us))], ['b / a', 'ratio', times], ['beyond intervals', 'beyond_intervals', v => v === null ? '' : v ? 'yes' : 'no', true], ['only in', 'only', null, true]];
  const by = rows => rows.map(r => [r.name, r, COLOURS[r.name] || '#8f98a5']);
  const b = Object.values(c).find(t => t && t.rows && t.rows.some(r => r.name === 'idle'));
  if (b) section('Where the time goes', ['a_us', 'b_us'].map(k => make('div', {}, [make('b', {}, k[0])].concat(stack(by(b.rows).map(r => [r[0], r[1][k], r[2]]))))));
  for (const [key, t] of Object.entries(c)) {
    if (!t || !t.rows || t === b || !t.rows.length) continue;
    const name = key.replace(/_us$/, '').replace(/_/g, ' ');
    if (key === 'ops') section('Operators', filtered(change, t.rows, 5, r => r.name));
    else main.append(folded(name, t.rows, change, 5));
  }
  return 'a comparison';
}

function scenarios(w) {
  const rows = w.scenarios.filter(r => !r.reason), base = w.base;
  /* On a logarithmic axis, the base in the middle. */
  const most = Math.max(0.1, ...rows.flatMap(r => Object.values(r.ratio)).filter(x => x > 0).map(x => Math.abs(Math.log(x))));
  const at = x => 50 + 50 * Math.log(x) / most, part = (a, b) => ({left: Math.min(a, b) + '%', width: Math.abs(a - b) + '%'});
  const bar = r => make('span', {class: 'bar from', title: times(r.ratio.predicted)}, r.ratio.predicted > 0 ? [make('i', {style: part(50, at(r.ratio.predicted))}),
    r.ratio.low > 0 ? make('u', {style: part(at(r.ratio.low), at(r.ratio.high))}) : null] : []);
  const best = rows.slice().sort((a, b) => a.ratio.predicted - b.ratio.predicted)[0];
  main.append(make('p', {class: 'verdict'}, best ? 'The shortest period: ' + best.name + ', ' + time(best.period_us.predicted) + ', ' + times(best.ratio.predicted) : 'No scenario could be predicted.'),
    make('div', {class: 'cards'}, base && base.period_us ? [card('as it is', time(base.period_us.predicted), range(base.period_us))] : []));
  section('Scenarios', [table([['scenario', 'name', null, true], ['to the base', r => r.ratio.predicted, times], ['', r => r.ratio.predicted, (v, r) => bar(r), true], ['from', r => r.ratio.low, times], ['to', r => r.ratio.high, times],
    ['period', r => r.period_us.predicted, time], ['kernels', r => r.kernel_us && r.kernel_us.predicted, time], ['transfers', r => r.communication_us && r.communication_us.transfer || null, time], ['waits', r => r.communication_us && r.communication_us.wait || null, time],
    ['memory', r => r.memory_bytes && r.memory_bytes.peak, held], ['fits', r => r.memory_bytes && r.memory_bytes.fits, null, true],
    ...(w.guards && w.guards.marked ? [['marked', r => r.guards.join(' '), null, true]] : [])], rows),
    w.guards && w.guards.text ? make('p', {class: 'soft'}, w.guards.text) : null]);
  const none = w.scenarios.filter(r => r.reason);
  if (none.length) section('What cannot be predicted', table([['scenario', 'name', null, true], ['why', 'reason', null, true]], none));
  return 'what-ifs';
}

/* ---- all of it ----------------------------------------------------------- */

async function unpack(id) {
  const e = document.getElementById(id);
  if (!e) return null;
  const raw = Uint8Array.from(atob(e.textContent), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
async function json(id) {
  const raw = await unpack(id);
  return raw && JSON.parse(new TextDecoder().decode(raw));
}

try {
  if (typeof DecompressionStream === 'undefined') throw new Error('this page wants a browser of 2023 or later: Chrome 80, Firefox 113, Safari 16.4');
  const answer = await json('answer'), kind = answer.schema.split('/')[1];
  const foot = kind === 'prediction' ? await prediction(answer) : kind === 'comparison' ? comparison(answer) : scenarios(answer);
  main.append(make('p', {class: 'soft'}, 'mystique-sim ' + answer.version + ', ' + foot + '.'));
  document.documentElement.dataset.ready = 'yes';
} catch (e) {
  main.append(make('p', {class: 'worse'}, String(e && e.message || e)));
  throw e;
}
})();
