'use strict';
// Builds the page from the JSON in #data. All text goes through textContent, so nothing in it can act as HTML.

const data = JSON.parse(document.getElementById('data').textContent);

function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

function section(title, id) {
  const heading = element('h2', '', title);
  heading.id = id;
  document.querySelector('main').append(heading);
  const link = element('a', '', title);
  link.href = '#' + id;
  document.querySelector('nav').append(link);
  const box = element('div');
  document.querySelector('main').append(box);
  return box;
}

function table(heads, rows) {
  const cell = (tag, value) => {
    const node = element(tag, '', value instanceof Node ? value : String(value ?? '–'));
    if (typeof value === 'number') {
      node.textContent = formatNumber(value);
      node.className = 'number';
    }
    return node;
  };
  const head = element('tr', '', ...heads.map((h, i) => {
    const node = cell('th', h);
    if (rows.length > 0 && typeof rows[0].cells[i] === 'number') node.className = 'number';
    return node;
  }));
  const body = element('tbody', '', ...rows.map((r) => element('tr', r.className || '', ...r.cells.map((c) => cell('td', c)))));
  return element('div', 'scroll', element('table', '', element('thead', '', head), body));
}

function duration(seconds) {
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const m = Math.floor(seconds / 60);
  return m < 60 ? `${m} min ${Math.round(seconds - 60 * m)} s` : `${Math.floor(m / 60)} h ${m % 60} min`;
}

function bytes(value) {
  for (const [unit, name] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]) {
    if (value >= unit) return `${Number((value / unit).toPrecision(3))} ${name}`;
  }
  return `${value} B`;
}

// A figure of a summary as people read it, by the ending of its name.
function figure(key, value) {
  if (typeof value !== 'number') return String(value);
  if (/(^|[._])seconds$/.test(key)) return duration(value);
  if (/(^|[._])bytes$/.test(key)) return bytes(value);
  if (isShare(key, value)) return `${Number((100 * value).toPrecision(4))} %`;
  return formatNumber(value);
}

function isShare(key, value) {
  return /(right_answers|share|fraction|utilization|mfu)/.test(key) && value >= 0 && value <= 1;
}

// Keys with dots to the values of a nested object; lists are left out.
function flatten(value, prefix, out) {
  for (const [key, inner] of Object.entries(value || {})) {
    const path = prefix ? `${prefix}.${key}` : key;
    if (inner !== null && typeof inner === 'object') {
      if (!Array.isArray(inner)) flatten(inner, path, out);
    } else {
      out[path] = inner;
    }
  }
  return out;
}

const label = (key) => key.replace(/[_.]+/g, ' ').trim();

function pairCard(name, key, before, after) {
  const change = after - before;
  const better = /loss|perplexity|seconds|error/.test(key) ? change < 0 : change > 0;
  const text = isShare(key, Math.max(before, after)) ? `${(100 * change).toFixed(1)} points` : formatNumber(change);
  return element('div', 'card', element('div', 'name', name),
                 element('div', 'value', `${figure(key, before)} → ${figure(key, after)}`),
                 element('div', `delta ${change === 0 ? '' : better ? 'good' : 'bad'}`, (change > 0 ? '+' : '') + text));
}

// Cards of a summary: what has a "before" and an "after" first, as one card.
function cards(summary) {
  const flat = flatten(summary, '', {});
  const pairs = [], single = [];
  for (const [key, value] of Object.entries(flat)) {
    const partner = key.replace('before', 'after');
    if (key.includes('before') && typeof value === 'number' && typeof flat[partner] === 'number') {
      pairs.push(pairCard(label(key.replace(/_?before/, '')), key, value, flat[partner]));
    } else if (!(key.includes('after') && typeof flat[key.replace('after', 'before')] === 'number') &&
               (typeof value === 'number' || (typeof value === 'string' && value.length < 40))) {
      single.push(element('div', 'card', element('div', 'name', label(key)), element('div', 'value', figure(key, value))));
    }
  }
  const box = element('div', '', element('div', 'cards', ...pairs, ...single.slice(0, 12)));
  if (single.length > 12) {
    box.append(element('details', '', element('summary', '', `${single.length - 12} more figures`),
                       element('div', 'cards', ...single.slice(12))));
  }
  return box;
}

function showSummary() {
  const shown = data.summary ? [['', data.summary]] : data.runs.filter((r) => r.summary).map((r) => [r.name, r.summary]);
  if (shown.length === 0) return;
  const box = section('Summary', 'summary');
  for (const [name, summary] of shown) {
    if (shown.length > 1) box.append(element('h3', '', name));
    box.append(cards(summary));
  }
}

// --- curves ---

const view = {log: false, smoothing: 0, range: null, hover: null, hidden: new Set(), axis: 'step'};
const charts = [];
const redraw = () => charts.forEach((c) => c.draw());
let waiting = false;
function redrawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    redraw();
  });
}

// x values of a run's curves on the chosen axis, by step.
function axisOf(run, steps) {
  if (view.axis === 'step') return steps;
  const curve = run.curves, column = curve.columns[view.axis === 'tokens' ? 'tokens' : 'elapsed_seconds'] || [];
  return steps.map((step) => {
    const i = nearest(curve.steps, column, step);
    return i < 0 ? null : step < curve.steps[0] ? 0 : column[i];
  });
}

function addSeries(chart, run, index, steps, values, name, evaluation) {
  const xs = axisOf(run, steps), points = [];
  xs.forEach((x, i) => {
    if (x !== null && x !== undefined) points.push([x, values[i] ?? null]);
  });
  const several = data.runs.length > 1;
  chart.series.push({
    label: [several ? run.name : '', evaluation ? 'held-out' : several ? '' : name].filter(Boolean).join(' '),
    run: index, color: PALETTE[(index * (several ? 1 : 2) + (evaluation && !several ? 1 : 0)) % PALETTE.length],
    dashed: evaluation, points: evaluation, xs: points.map((p) => p[0]), ys: points.map((p) => p[1]),
  });
}

// Loss first, then what people ask about, then the rest in the order of the file.
const FIRST = ['loss', 'grad_norm', 'lr', 'tokens_per_second', 'peak_share', 'step_seconds', 'peak_memory_bytes'];
const NOT_CURVES = ['tokens', 'elapsed_seconds'];

function curveKeys() {
  const keys = new Set(FIRST.filter((k) => data.runs.some((r) => r.curves.columns[k] || r.eval.columns[k])));
  for (const run of data.runs) {
    Object.keys(run.curves.columns).forEach((k) => keys.add(k));
    Object.keys(run.eval.columns).filter((k) => /loss|perplexity|accuracy|share/.test(k)).forEach((k) => keys.add(k));
  }
  return [...keys].filter((k) => !NOT_CURVES.includes(k));
}

function fillCharts() {
  for (const chart of charts) {
    chart.series = [];
    data.runs.forEach((run, index) => {
      const own = run.curves.columns[chart.key], held = run.eval.columns[chart.key];
      if (own) addSeries(chart, run, index, run.curves.steps, own, chart.key, false);
      if (held) addSeries(chart, run, index, run.eval.steps, held, chart.key, true);
    });
  }
  redraw();
}

function control(text, node) {
  return element('label', '', text, node);
}

function curveTools() {
  const log = element('input');
  log.type = 'checkbox';
  log.addEventListener('change', () => {
    view.log = log.checked;
    redraw();
  });
  const smoothing = element('input');
  smoothing.type = 'range';
  [smoothing.min, smoothing.max, smoothing.step, smoothing.value] = ['0', '0.98', '0.02', '0'];
  smoothing.addEventListener('input', () => {
    view.smoothing = Number(smoothing.value);
    redrawSoon();
  });
  const axis = element('select', '', ...[['step', 'step'], ['tokens', 'tokens'], ['time', 'time (s)']].map(([value, text]) => {
    const option = element('option', '', text);
    option.value = value;
    return option;
  }));
  axis.addEventListener('change', () => {
    view.axis = axis.value;
    view.range = null;
    fillCharts();
  });
  const reset = element('button', '', 'Reset zoom');
  reset.addEventListener('click', () => {
    view.range = null;
    redraw();
  });
  const legend = element('span', 'legend');
  if (data.runs.length > 1) {
    data.runs.forEach((run, index) => {
      const box = element('input'), chip = element('span', 'chip');
      box.type = 'checkbox';
      box.checked = true;
      chip.style.background = PALETTE[index % PALETTE.length];
      box.addEventListener('change', () => {
        box.checked ? view.hidden.delete(index) : view.hidden.add(index);
        redraw();
      });
      legend.append(element('label', '', box, chip, run.name));
    });
  }
  return element('div', 'tools', legend, control('x axis', axis), control('smoothing', smoothing), control('log scale', log), reset,
                 element('span', 'soft', 'drag: zoom · double click: all'));
}

function showCurves() {
  const keys = curveKeys();
  if (keys.length === 0) return;
  const box = section('Curves', 'curves');
  const grid = element('div', 'charts');
  const more = element('div', 'charts');
  box.append(curveTools(), grid);
  const rest = keys.filter((k) => !FIRST.includes(k));
  if (rest.length > 0) {
    const details = element('details', '', element('summary', '', `${rest.length} more curves`), more);
    details.addEventListener('toggle', redraw);
    box.append(details);
  }
  for (const key of keys) {
    const held = data.runs.some((r) => r.eval.columns[key]);
    const title = (key === 'loss' ? 'loss (nats a counted token)' : label(key)) + (held ? ' – dashed: held-out' : '');
    const chart = new Chart(FIRST.includes(key) ? grid : more, title, key === 'loss', view, redrawSoon);
    chart.key = key;
    charts.push(chart);
  }
  for (const run of data.runs) {
    if (run.curves.note) box.append(element('p', 'soft', `${run.name}: ${run.curves.note}`));
  }
  fillCharts();
  window.addEventListener('resize', redrawSoon);
}

// --- words ---

function sampleBlock(sample) {
  const states = sample.states;
  const side = (state) => element('div', 'card', element('div', 'name', `step ${state.step}`), element('div', 'words', state.text));
  const pair = element('div', 'pair', side(states[0]));
  if (states.length > 1) {
    const last = element('div', '', side(states[states.length - 1]));
    pair.append(last);
    if (states.length > 2) {
      const choose = element('select', '', ...states.slice(1).map((s, i) => {
        const option = element('option', '', `step ${s.step}`);
        option.value = String(i + 1);
        option.selected = i === states.length - 2;
        return option;
      }));
      choose.addEventListener('change', () => last.replaceChildren(side(states[Number(choose.value)]), choose));
      last.append(choose);
    }
  }
  const block = element('div', 'sample', element('h3', 'words', sample.prompt || '(no prompt)'));
  if (sample.picture) {
    const picture = element('img', 'picture');
    picture.src = sample.picture;
    picture.alt = sample.prompt;
    block.append(picture);
  }
  if (sample.expected) block.append(element('p', 'words', `expected: ${sample.expected}`));
  block.append(pair);
  return block;
}

function showSamples() {
  if (!data.runs.some((r) => r.samples.length > 0)) return;
  const box = section('Samples before and after', 'samples');
  for (const run of data.runs.filter((r) => r.samples.length > 0)) {
    if (data.runs.length > 1) box.append(element('h3', 'soft', run.name));
    run.samples.forEach((s) => box.append(sampleBlock(s)));
  }
}

function shareBar(share, error) {
  const bar = element('div', 'bar'), fill = element('i'), whisker = element('u');
  fill.style.width = `${100 * share}%`;
  whisker.style.left = `${100 * Math.max(0, share - error)}%`;
  whisker.style.width = `${100 * (Math.min(1, share + error) - Math.max(0, share - error))}%`;
  bar.append(fill, whisker);
  return bar;
}

function shareRows(match) {
  const rows = [];
  for (const moment of ['before', 'after']) {
    for (const [task, t] of Object.entries((match[moment] || {}).tasks || {})) {
      rows.push({task, moment, cells: [label(task) || 'all', moment, t.questions, `${t.right} = ${(100 * t.share).toFixed(1)} % ± ${(100 * t.standard_error).toFixed(1)}`,
                                       shareBar(t.share, t.standard_error)]});
    }
  }
  return rows.sort((a, b) => a.task < b.task ? -1 : a.task > b.task ? 1 : a.moment < b.moment ? 1 : -1);
}

function answerCell(answer) {
  if (!answer) return '–';
  return element('div', `answer words ${answer.right ? 'good' : 'bad'}`, (answer.right ? '✓ ' : '✗ ') + answer.answer);
}

function showAnswers() {
  const runs = data.runs.filter((r) => r.match);
  if (runs.length === 0) return;
  const box = section('Right answers', 'answers');
  for (const run of runs) {
    if (data.runs.length > 1) box.append(element('h3', 'soft', run.name));
    box.append(table(['task', '', 'questions', 'right', ''], shareRows(run.match)));
    const questions = run.match.questions;
    if (questions.length === 0) continue;
    box.append(element('p', 'soft', `${questions.length} questions drawn by seed ${data.seed}`));
    box.append(table(['task', 'question', 'expected', 'answer before', 'answer after'],
                     questions.map((q) => ({cells: [label(q.task) || '–', element('div', 'words', q.question), element('div', 'words', q.expected),
                                                    answerCell(q.before), answerCell(q.after)]}))));
  }
}

// --- facts ---

function filterable(heads, rows) {
  const search = element('input');
  search.type = 'search';
  search.placeholder = 'filter';
  const box = table(heads, rows);
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase();
    box.querySelectorAll('tbody tr').forEach((tr) => tr.hidden = !tr.textContent.toLowerCase().includes(words));
  });
  return element('div', '', element('p', '', search), box);
}

function showConfiguration() {
  if (!data.runs.some((r) => r.config.entries.length > 0 || r.config.text)) return;
  const box = section('Configuration', 'configuration');
  data.runs.forEach((run) => {
    const details = element('details', '', element('summary', '', `${run.name}: config.yaml`));
    details.open = data.runs.length === 1;
    if (run.config.entries.length > 0) {
      details.append(filterable(['key', 'value', 'from'], run.config.entries.map((e) => ({
        className: e.changed ? 'changed' : '', cells: [element('span', 'mono', e.key), element('span', 'mono', e.value), e.origin]}))));
    } else {
      details.append(element('div', 'scroll', element('pre', '', run.config.text)));
    }
    box.append(details);
  });
}

function showFacts() {
  const runs = data.runs.filter((r) => r.machine && Object.keys(r.machine).length > 0);
  if (runs.length === 0) return;
  const box = section('Machine', 'machine');
  const flat = runs.map((r) => flatten(r.machine, '', {}));
  const keys = [...new Set(flat.flatMap((f) => Object.keys(f)))];
  box.append(table(['', ...runs.map((r) => r.name)], keys.map((k) => ({cells: [label(k), ...flat.map((f) => k in f ? figure(k, f[k]) : '–')]}))));
}

function showCheckpoints() {
  const rows = data.runs.flatMap((run) => run.checkpoints.map((c) => ({cells: [run.name, c.step, element('span', 'mono', c.path), bytes(c.bytes)]})));
  if (rows.length > 0) section('Checkpoints', 'checkpoints').append(table(['run', 'step', 'folder', 'size'], rows));
}

function showWarnings() {
  const rows = data.runs.flatMap((run) => run.warnings.map((w) => ({cells: [run.name, w]})));
  if (rows.length > 0) section('Warnings', 'warnings').append(table(['run', 'message'], rows));
}

function showWhole() {
  const box = section('All figures', 'all');
  const parts = (data.summary ? [['summary', data.summary]] : []).concat(data.runs.filter((r) => r.summary).map((r) => [`${r.name}: summary.json`, r.summary]));
  for (const [name, value] of parts) {
    box.append(element('details', '', element('summary', '', name), element('div', 'scroll', element('pre', '', JSON.stringify(value, null, 2)))));
  }
  if (parts.length === 0) box.append(element('p', 'soft', 'No summary.json yet: the run is not finished.'));
}

function themeButton() {
  const button = document.getElementById('theme');
  button.addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawSoon);
}

themeButton();
showSummary();
showCurves();
showSamples();
showAnswers();
showCheckpoints();
showWarnings();
showFacts();
showConfiguration();
showWhole();
