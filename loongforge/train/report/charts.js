'use strict';
// Line charts on a canvas: several series, shared zoom along x, crosshair, log scale, smoothing.

const PALETTE = ['#2f7ed8', '#e07b00', '#2e9e5b', '#c43c6b', '#7b5bd6', '#0f9aa8', '#9a6a2f', '#6b7480'];

// At most six digits that matter, no exponent where a plain number is readable.
function formatNumber(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-4) return value.toExponential(3);
  if (size >= 1000) return value.toLocaleString('en-US', {maximumFractionDigits: size >= 1e5 ? 0 : 2});
  return String(Number(value.toPrecision(5)));
}

// Numbers at the axes: 12k, 3.4M.
function formatTick(value) {
  const size = Math.abs(value);
  for (const [unit, name] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (size >= unit) return String(Number((value / unit).toPrecision(4))) + name;
  }
  return size !== 0 && size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(4)));
}

function niceTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || raw;
  const ticks = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step) ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  const decades = Math.log10(high / low);
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const m of decades > 3 ? [1] : decades > 0.7 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]) {
      const t = m * Math.pow(10, e);
      if (t >= low * 0.999 && t <= high * 1.001) ticks.push(t);
    }
  }
  return ticks.length > 1 ? ticks : niceTicks(low, high, 4).filter((t) => t > 0);
}

// Exponential moving average without a bias to the first value; gaps stay gaps.
function smooth(values, factor) {
  if (factor <= 0) return values;
  let sum = 0, weight = 0;
  return values.map((v) => {
    if (v === null) return null;
    sum = sum * factor + v * (1 - factor);
    weight = weight * factor + (1 - factor);
    return sum / weight;
  });
}

// view: {log, smoothing, range: [low, high] of x or null, hover: x or null, hidden: Set of run indices}, shared by
// all charts; `changed` redraws them all.
class Chart {
  constructor(parent, title, wide, view, changed) {
    this.view = view;
    this.changed = changed;
    this.series = [];  // {label, run, color, dashed, points, xs, ys}
    this.box = document.createElement('div');
    this.box.className = wide ? 'chart wide' : 'chart';
    const head = document.createElement('h3');
    head.textContent = title;
    this.canvas = document.createElement('canvas');
    this.tip = document.createElement('div');
    this.tip.className = 'tip';
    this.tip.hidden = true;
    this.box.append(head, this.canvas, this.tip);
    parent.append(this.box);
    this.listen();
  }

  // Series that are shown, each with its smoothed values.
  visible() {
    return this.series.filter((s) => !this.view.hidden.has(s.run) && s.xs.length > 0).map((s) => {
      const factor = s.points ? 0 : this.view.smoothing;
      if (s.cache === undefined || s.factor !== factor) {
        s.cache = smooth(s.ys, factor);
        s.factor = factor;
      }
      return s;
    });
  }

  bounds(shown) {
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (const s of shown) {
      x0 = Math.min(x0, s.xs[0]);
      x1 = Math.max(x1, s.xs[s.xs.length - 1]);
    }
    if (this.view.range) [x0, x1] = this.view.range;
    for (const s of shown) {
      s.xs.forEach((x, i) => {
        const y = s.cache[i];
        if (x < x0 || x > x1 || y === null || (this.view.log && y <= 0)) return;
        y0 = Math.min(y0, y);
        y1 = Math.max(y1, y);
      });
    }
    if (x0 === x1) [x0, x1] = [x0 - 0.5, x1 + 0.5];
    if (!(y0 <= y1)) [y0, y1] = this.view.log ? [1, 10] : [0, 1];
    if (this.view.log) return {x0, x1, y0: y0 / 1.05, y1: y1 * 1.05};
    const pad = y1 > y0 ? (y1 - y0) * 0.06 : Math.abs(y0) * 0.05 || 0.5;
    return {x0, x1, y0: y0 - pad, y1: y1 + pad};
  }

  draw() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const ctx = this.canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    this.colors = (name) => style.getPropertyValue('--' + name).trim();
    ctx.font = '11px system-ui, sans-serif';
    const shown = this.visible();
    const b = this.bounds(shown);
    this.area = {left: 54, right: width - 10, top: 8, bottom: height - 22};
    const a = this.area, log = this.view.log;
    const toX = (x) => a.left + (x - b.x0) / (b.x1 - b.x0) * (a.right - a.left);
    const scale = (y) => log ? Math.log(y) : y;
    const toY = (y) => a.bottom - (scale(y) - scale(b.y0)) / (scale(b.y1) - scale(b.y0)) * (a.bottom - a.top);
    this.fromX = (px) => b.x0 + (px - a.left) / (a.right - a.left) * (b.x1 - b.x0);
    this.axes(ctx, b, toX, toY);
    ctx.save();
    ctx.beginPath();
    ctx.rect(a.left, a.top - 4, a.right - a.left, a.bottom - a.top + 8);
    ctx.clip();
    for (const s of shown) {
      if (s.factor > 0) this.line(ctx, s, s.ys, toX, toY, 0.25);
      this.line(ctx, s, s.cache, toX, toY, 1);
    }
    ctx.restore();
    this.hover(ctx, shown, toX, toY);
    if (this.drag) {
      ctx.fillStyle = this.colors('accent');
      ctx.globalAlpha = 0.18;
      ctx.fillRect(Math.min(this.drag.from, this.drag.to), a.top, Math.abs(this.drag.to - this.drag.from), a.bottom - a.top);
      ctx.globalAlpha = 1;
    }
  }

  axes(ctx, b, toX, toY) {
    const a = this.area;
    ctx.strokeStyle = this.colors('grid');
    ctx.fillStyle = this.colors('soft');
    ctx.lineWidth = 1;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    for (const t of this.view.log ? logTicks(b.y0, b.y1) : niceTicks(b.y0, b.y1, 5)) {
      const y = Math.round(toY(t)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(a.left, y);
      ctx.lineTo(a.right, y);
      ctx.stroke();
      ctx.fillText(formatTick(t), a.left - 6, y);
    }
    ctx.textBaseline = 'top';
    ctx.textAlign = 'center';
    for (const t of niceTicks(b.x0, b.x1, Math.max(2, (a.right - a.left) / 90))) {
      ctx.fillText(formatTick(t), toX(t), a.bottom + 6);
    }
  }

  line(ctx, s, ys, toX, toY, alpha) {
    ctx.globalAlpha = alpha;
    ctx.strokeStyle = ctx.fillStyle = s.color;
    ctx.lineWidth = 1.6;
    ctx.setLineDash(s.dashed ? [6, 4] : []);
    ctx.beginPath();
    let open = false;
    s.xs.forEach((x, i) => {
      const y = ys[i];
      if (y === null || (this.view.log && y <= 0)) {
        open = false;
        return;
      }
      open ? ctx.lineTo(toX(x), toY(y)) : ctx.moveTo(toX(x), toY(y));
      open = true;
    });
    ctx.stroke();
    ctx.setLineDash([]);
    if (s.points || s.xs.length === 1) {
      s.xs.forEach((x, i) => {
        if (ys[i] === null || (this.view.log && ys[i] <= 0)) return;
        ctx.beginPath();
        ctx.arc(toX(x), toY(ys[i]), 3.2, 0, 2 * Math.PI);
        ctx.fill();
      });
    }
    ctx.globalAlpha = 1;
  }

  hover(ctx, shown, toX, toY) {
    this.tip.hidden = true;
    if (this.view.hover === null || this.drag) return;
    const a = this.area, px = toX(this.view.hover);
    if (px < a.left - 1 || px > a.right + 1) return;
    ctx.strokeStyle = this.colors('soft');
    ctx.beginPath();
    ctx.moveTo(px, a.top);
    ctx.lineTo(px, a.bottom);
    ctx.stroke();
    const rows = [];
    for (const s of shown) {
      const i = nearest(s.xs, s.cache, this.view.hover);
      if (i < 0) continue;
      rows.push({s, x: s.xs[i], y: s.ys[i]});
      if (s.cache[i] === null || (this.view.log && s.cache[i] <= 0)) continue;
      ctx.fillStyle = s.color;
      ctx.beginPath();
      ctx.arc(toX(s.xs[i]), toY(s.cache[i]), 3.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    if (this.inside && rows.length > 0) this.showTip(rows, px);
  }

  showTip(rows, px) {
    this.tip.textContent = '';
    for (const {s, x, y} of rows) {
      const line = document.createElement('div');
      const chip = document.createElement('span');
      chip.className = 'chip';
      chip.style.background = s.color;
      const value = document.createElement('b');
      value.textContent = formatNumber(y);
      line.append(chip, ` ${s.label}  ${formatTick(x)}: `, value);
      this.tip.append(line);
    }
    this.tip.hidden = false;
    const left = this.canvas.offsetLeft + px;
    const fits = left + 14 + this.tip.offsetWidth < this.box.clientWidth;
    this.tip.style.left = `${fits ? left + 14 : Math.max(4, left - 14 - this.tip.offsetWidth)}px`;
    this.tip.style.top = `${this.canvas.offsetTop + 14}px`;
  }

  listen() {
    const at = (event) => event.clientX - this.canvas.getBoundingClientRect().left;
    const clamp = (px) => Math.min(this.area.right, Math.max(this.area.left, px));
    this.canvas.addEventListener('pointermove', (event) => {
      if (!this.area) return;
      this.inside = true;
      if (this.drag) this.drag.to = clamp(at(event));
      this.view.hover = this.fromX(clamp(at(event)));
      this.changed();
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.inside = false;
      this.view.hover = null;
      this.changed();
    });
    this.canvas.addEventListener('pointerdown', (event) => {
      if (!this.area || event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.drag = {from: clamp(at(event)), to: clamp(at(event))};
    });
    this.canvas.addEventListener('pointerup', () => {
      if (!this.drag) return;
      const [from, to] = [this.drag.from, this.drag.to].sort((x, y) => x - y);
      this.drag = null;
      if (to - from > 6) this.view.range = [this.fromX(from), this.fromX(to)];
      this.changed();
    });
    this.canvas.addEventListener('pointercancel', () => {
      this.drag = null;
      this.changed();
    });
    this.canvas.addEventListener('dblclick', () => {
      this.view.range = null;
      this.changed();
    });
  }
}

// Index of the point nearest to x that has a value; -1 where there is none.
function nearest(xs, ys, x) {
  let low = 0, high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    xs[middle] <= x ? low = middle : high = middle;
  }
  let best = Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
  for (let d = 0; d < xs.length; d++) {
    for (const i of [best - d, best + d]) {
      if (i >= 0 && i < xs.length && ys[i] !== null) return i;
    }
  }
  return -1;
}
