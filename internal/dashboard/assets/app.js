"use strict";
// The pages of the dashboard. State comes by server-sent events; every name is set as text, never as
// markup.

const state = { nodes: new Map(), now: 0 };
const main = document.getElementById("main"), tip = document.getElementById("tip"), live = document.getElementById("live");
const remembered = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ } },
};
let colour = remembered.get("tenon-colour") || "state", size = "cpu", sorting = { key: "name", down: false }, filter = "";

// el makes an element: el("td.n", {title: "x"}, "text", child).
function el(kind, attributes, ...children) {
  const [name, ...classes] = kind.split("."), node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(node.style, value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter(c => c != null && c !== false));
  return node;
}
const svg = (name, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

const number = (v, digits = 3) => v.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
// Amounts of money have their currency; in tables the names of the columns have it.
const unit = () => state.currency || "price", money = (v, digits) => number(v, digits) + (state.currency ? " " + state.currency : "");
const perHour = (v, digits = 3) => money(v, digits) + "/h", month = v => money(730 * v, 0) + " a month";
const hourly = v => [number(v), el("small", null, (state.currency ? " " + state.currency : "") + "/h")];
const percent = v => Math.round(100 * v) + " %";
const share = ([used, all]) => all > 0 ? used / all : 0;
const cores = v => v >= 10 ? v.toFixed(0) : v.toFixed(1).replace(/\.0$/, "");
const bytes = v => { const units = ["", "Ki", "Mi", "Gi", "Ti"]; let i = 0; while (v >= 1024 && i < 4) { v /= 1024; i++; } return (v >= 100 || v % 1 === 0 ? v.toFixed(0) : v.toFixed(1)) + units[i]; };
const amount = (resource, v) => resource === "memory" || resource === "ephemeral-storage" ? bytes(v) : cores(v);
const plural = (n, word) => n.toLocaleString("en-US") + " " + word + (n === 1 ? "" : "s");
const short = name => name.split(".")[0] || name;
function age(at) {
  if (!at) return "–";
  const s = Math.max(0, Math.round(Date.now() / 1000 - at));
  return s < 120 ? s + " s" : s < 7200 ? Math.floor(s / 60) + " min" : s < 172800 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " d";
}
const leaving = n => n.phase === "Draining" || n.phase === "Deleting" || !!n.going;
const starting = n => ["Launching", "Registering", "Initializing"].includes(n.phase);
function word(n) { return n.phase === "Ready" ? (n.going || (n.cordoned ? "Cordoned" : "Ready")) : n.phase; }
const states = { ready: ["ready", "--use"], blocked: ["must not go", "--info"], starting: ["starting", "--warn"], leaving: ["leaving", "--daemon"], ill: ["not ready", "--bad"] };
function stateOf(n) { return n.phase === "NotReady" ? "ill" : starting(n) ? "starting" : leaving(n) ? "leaving" : n.verdict === "Blocked" ? "blocked" : "ready"; }
// A bar shows what is requested, and of that what daemons request; a mark in it shows what is really used, if that is measured.
function bar(parts, used) {
  const part = v => ({ width: 100 * Math.min(1, v) + "%" });
  return el("span.bar", { role: "img", "aria-label": percent(share(parts)) + (used == null ? "" : " requested, " + percent(used) + " used"), title: used == null ? null : percent(used) + " really used" },
    el("i", { style: part(share(parts)) }), el("u", { style: part(share([parts[2], parts[1]])) }), used == null ? null : el("b", { style: { left: 100 * Math.min(0.985, used) + "%" } }));
}
const meter = (parts, used) => [bar(parts, used), percent(share(parts))];
const usedOf = (x, i) => x.used ? x.used[i] : null;
const usedNote = (x, i) => x.used ? ", " + percent(x.used[i]) + " used" : "";
const poolName = p => p.name || "no pool";
const poolAddress = (kind, name) => "#/" + (kind === "NodePool" ? "pool" : "group") + "/" + encodeURIComponent(name);
const poolLink = (kind, name) => name ? el("a", { href: poolAddress(kind, name) }, name) : "no pool";
const nodeLink = n => el("a", { href: "#/node/" + encodeURIComponent(n.name), title: n.name }, short(n.name));

function receive(update) {
  const first = !state.total;
  if (update.whole) state.nodes.clear();
  for (const n of update.nodes) state.nodes.set(n.name, n);
  for (const name of update.gone) state.nodes.delete(name);
  Object.assign(state, update, { nodes: state.nodes });
  title(update);
  document.title = "Tenon " + update.title;
  const waiting = document.getElementById("waiting");
  waiting.hidden = !update.pending.length; waiting.textContent = update.pending.length;
  draw();
  if (first) readAll();
}
// The name of the cluster; where the server shows several, a choice of them.
function title(update) {
  const names = JSON.stringify(update.clusters);
  if (title.shown === names) return;
  title.shown = names;
  document.getElementById("title").replaceChildren(update.clusters.length < 2 ? update.title : el("select", { "aria-label": "Cluster", onchange: e => { location.href = e.target.value + location.hash; } },
    ...update.clusters.map(c => el("option", { value: c.path, selected: c.title === update.title || null }, c.title))));
}
function connect() {
  const source = new EventSource("api/stream");
  source.onopen = () => { live.textContent = "live"; live.className = "on"; };
  source.onerror = () => { live.textContent = "reconnecting"; live.className = ""; };
  source.onmessage = message => receive(JSON.parse(message.data));
}

// Figures at the top of a page: [value, name, note].
const figures = list => el("div.figures", null, list.filter(Boolean).map(([value, name, note, kind]) => el("div.figure", null, el("span", null, name), el(kind ? "b." + kind : "b", null, value), el("small", null, note || "\u00a0"))));
const notices = (list, to) => list.map(n => el("p.notice", null, el("b", null, to ? el("a", { href: to }, n.name) : n.name, ": " + n.reason), el("br"), n.message));

// On narrow screens a row is a card, and each cell is preceded by the name of its column. That takes the meaning of
// a table from the elements, so the roles are written out.
const headOf = columns => el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, columns.map(c => el(c.n ? "th.n" : "th", { role: "columnheader", scope: "col", style: c.width ? { width: c.width + "px" } : {}, "aria-sort": c.key && sorting.key === c.key ? (sorting.down ? "descending" : "ascending") : null },
  c.key ? el("button", { id: "by-" + c.key, type: "button", onclick: () => { sorting = { key: c.key, down: sorting.key === c.key && !sorting.down }; draw(); } }, c.name + (sorting.key === c.key ? (sorting.down ? " ↓" : " ↑") : "")) : c.name))));
const rowOf = (columns, r) => el("tr", { role: "row" }, columns.map(c => el(c.n ? "td.n" : c.why ? "td.why" : c.long ? "td.nb.long" : c.mid ? "td.mid" : c.nb ? "td.nb" : "td", { role: "cell", "data-name": c.name }, c.cell(r))));
function table(label, columns, rows, empty) {
  if (!rows.length) return el("div.card.empty", null, empty);
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": label }, el("table.cards", { role: "table", "aria-label": label }, headOf(columns), el("tbody", { role: "rowgroup" }, rows.map(r => rowOf(columns, r)))));
}
// A long table draws only the rows near the screen. Its rows are divided into parts, each a tbody; a part that is far away
// holds one empty row, as high as the part was or is expected to be. The element of a row is used again until its object or
// the text of live changes. The tables of the open page are kept, so that draw can leave them in their place.
const partRows = 20, expectedHeight = () => innerWidth > 640 ? 54 : 250;
const longTables = new Map();
function longTable(label, columns, rows, empty, live = () => "") {
  if (!rows.length) return table(label, columns, rows, empty);
  const key = label + (shows() === "nodes" ? "" : location.hash);
  let t = longTables.get(key);
  if (!t) {
    const element = el("table.cards.even", { role: "table", "aria-label": label });
    t = { element, parts: [], root: el("div.scroll", { tabindex: 0, role: "region", "aria-label": label }, element) };
    t.watch = new IntersectionObserver(seen => { for (const s of seen) approach(t, t.parts.find(part => part.body === s.target), s.isIntersecting); }, { rootMargin: "400px 0px" });
    longTables.set(key, t);
  }
  Object.assign(t, { columns, rows, live, drawn: true });
  t.element.style.minWidth = columns.reduce((sum, c) => sum + (c.width || 200), 0) + "px";
  t.element.setAttribute("aria-rowcount", rows.length + 1);
  const head = headOf(columns), had = t.element.tHead;
  if (!had) t.element.prepend(head); else if (had.outerHTML !== head.outerHTML) had.replaceWith(head);
  while (t.parts.length * partRows < rows.length) {
    const part = { first: t.parts.length * partRows, body: el("tbody"), elements: new Map(), near: t.parts.length < 2, height: 0 };
    t.parts.push(part); t.element.append(part.body); t.watch.observe(part.body);
  }
  for (const part of t.parts.splice(Math.ceil(rows.length / partRows))) { t.watch.unobserve(part.body); part.body.remove(); }
  for (const part of t.parts) fill(t, part);
  return t.root;
}
// forgetTables drops the long tables that the page no longer has.
function forgetTables() {
  for (const [key, t] of longTables) if (t.drawn) t.drawn = false; else { t.watch.disconnect(); longTables.delete(key); }
}
// approach notes that a part came near the screen or went away from it. A part with the focus stays drawn, and a table of
// two parts does: it can be printed, and searched by the browser.
function approach(t, part, near) {
  if (!part || part.near === near || (!near && (t.parts.length < 3 || part.body.contains(document.activeElement)))) return;
  if (!near) part.height = part.body.offsetHeight;
  part.near = near;
  fill(t, part);
}
function fill(t, part) {
  const rows = t.rows.slice(part.first, part.first + partRows), last = part.elements;
  part.elements = new Map();
  part.body.setAttribute("role", part.near ? "rowgroup" : "presentation");
  if (!part.near) {
    const height = (part.height && rows.length === partRows ? part.height : rows.length * expectedHeight()) + "px";
    if (!last.size && part.body.firstChild && part.body.firstChild.style.height === height) return;
    part.body.replaceChildren(el("tr.room", { role: "presentation", style: { height } }));
    return;
  }
  rows.forEach((r, i) => {
    const key = (r.namespace || "") + "/" + r.name, live = t.live(r), had = last.get(key);
    const element = had && had.r === r && had.live === live ? had.element : rowOf(t.columns, r);
    element.setAttribute("aria-rowindex", part.first + i + 2);
    part.elements.set(key, { r, live, element });
  });
  place(part.body, [...part.elements.values()].map(e => e.element));
}
// place gives an element these children. Those that it has already are not moved, as far as their order allows.
function place(parent, children) {
  const wanted = new Set(children);
  for (const c of [...parent.childNodes]) if (!wanted.has(c)) c.remove();
  let next = parent.firstChild;
  for (const c of children) if (c === next) next = next.nextSibling; else parent.insertBefore(c, next);
}

function fleetPage() {
  const t = state.total, out = [el("h1.unseen", null, "Fleet")];
  out.push(figures([
    [hourly(t.price), "Price now", month(t.price) + (t.unpriced ? "; " + t.unpriced + " unpriced" : "")],
    [hourly(t.idle), "Idle", t.price ? percent(t.idle / t.price) + " of the price" : ""],
    boundFigure(),
    [t.nodes, "Nodes", t.ready + " ready" + (t.leaving ? ", " + t.leaving + " leaving" : "")],
    [t.pods + state.pending.length, "Pods", state.pending.length ? state.pending.length + " pending" : "none pending", state.pending.length ? "warn" : ""],
    [percent(share(t.cpu)), "CPU requested", cores(t.cpu[0]) + " of " + cores(t.cpu[1]) + usedNote(t, 0)],
    [percent(share(t.memory)), "Memory requested", bytes(t.memory[0]) + " of " + bytes(t.memory[1]) + usedNote(t, 1)],
  ]));
  out.push(...state.problems.map(p => el("p.notice", null, p)), ...state.pools.flatMap(p => notices(p.notices, poolAddress(p.kind, p.name))));
  const pick = (id, value, options, change) => el("select", { id, onchange: e => change(e.target.value) }, options.map(([v, text]) => el("option", { value: v, selected: v === value }, text)));
  out.push(el("div.row", null,
    el("label", { for: "colour" }, "Colour", pick("colour", colour, [["state", "by state"], ["use", "by use"], ["price", "by price"], ["age", "by age"], ["zone", "by zone"], ["capacity", "by capacity type"]], v => { colour = v; remembered.set("tenon-colour", v); draw(); })),
    el("label", { for: "size" }, "Size", pick("size", size, [["cpu", "by CPU"], ["memory", "by memory"], ["price", "by price"]], v => { size = v; draw(); })),
    tones() ? tones().key.map(([text, tone]) => el("span.key", null, el("i", { style: { background: tone } }), text)) : colour === "state" ? Object.values(states).map(([text, v]) => el("span.key", null, el("i", { style: { background: `var(${v})` } }), text)) : el("span.key", null, "pale is idle, full is in use")));
  if (!state.nodes.size) out.push(el("div.card.empty", null, "There are no nodes."));
  else {
    out.push(...mapOf(state.pools));
  }
  out.push(el("h2", null, "Pools"), table("Pools", [
    { name: "Pool", nb: 1, cell: p => [poolLink(p.kind, p.name), p.kind && p.kind !== "NodePool" ? el("span.soft", null, " " + p.kind) : null] },
    { name: "Nodes", n: 1, cell: p => p.total.ready === p.total.nodes ? p.total.nodes : p.total.ready + " of " + p.total.nodes },
    { name: "Pods", n: 1, cell: p => p.total.pods }, { name: "CPU", nb: 1, cell: p => meter(p.total.cpu, usedOf(p.total, 0)) }, { name: "Memory", nb: 1, cell: p => meter(p.total.memory, usedOf(p.total, 1)) },
    { name: unit() + "/h", n: 1, cell: p => number(p.total.price) }, { name: unit() + "/month", n: 1, cell: p => number(730 * p.total.price, 0) }, { name: "Idle " + unit() + "/h", n: 1, cell: p => number(p.total.idle) },
    { name: "Limits", nb: 1, cell: p => p.limits.map(l => l.name + " " + amount(l.name, l.have) + "/" + amount(l.name, l.most)).join(", ") || "–" },
  ], state.pools, "There are no pools."));
  const zones = zonesOf();
  if (zones.length > 1) out.push(el("h2", null, "Zones"), table("Zones", [
    { name: "Zone", nb: 1, cell: z => el("a", { href: "#/zone/" + encodeURIComponent(z.name) }, z.name) }, { name: "Nodes", n: 1, cell: z => z.nodes.length }, { name: "Pods", n: 1, cell: z => z.pods },
    { name: "CPU", nb: 1, cell: z => meter(z.cpu) }, { name: "Memory", nb: 1, cell: z => meter(z.memory) }, { name: unit() + "/h", n: 1, cell: z => number(z.price) }, { name: "Spot", n: 1, cell: z => z.price ? percent(z.spot / z.price) : "–" },
  ], zones, ""));
  return out;
}
// Zones with sums over their nodes.
function zonesOf() {
  const by = new Map();
  for (const n of state.nodes.values()) {
    if (!n.zone) continue;
    if (!by.has(n.zone)) by.set(n.zone, { name: n.zone, nodes: [], pods: 0, price: 0, idle: 0, spot: 0, cpu: [0, 0, 0], memory: [0, 0, 0] });
    const z = by.get(n.zone);
    z.nodes.push(n); z.pods += n.pods.length; z.price += n.price; z.idle += n.idle; z.spot += n.capacity === "spot" ? n.price : 0;
    for (const i of [0, 1, 2]) { z.cpu[i] += n.cpu[i]; z.memory[i] += n.memory[i]; }
  }
  return [...by.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}
function zonePage(name) {
  const z = zonesOf().find(x => x.name === name), head = el("h1", null, el("span.soft", null, "Zone "), name);
  if (!z) return [head, el("div.card.empty", null, "There is no node in this zone now.")];
  const nodes = sorted(z.nodes), ready = nodes.filter(n => n.phase === "Ready").length;
  return [head, figures([[hourly(z.price), "Price now", month(z.price)], [hourly(z.idle), "Idle", z.price ? percent(z.idle / z.price) + " of the price" : ""], [nodes.length, "Nodes", ready + " ready"], [z.pods, "Pods", ""],
    [percent(share(z.cpu)), "CPU requested", cores(z.cpu[0]) + " of " + cores(z.cpu[1])], [percent(share(z.memory)), "Memory requested", bytes(z.memory[0]) + " of " + bytes(z.memory[1])], [percent(z.price ? z.spot / z.price : 0), "Spot", "of the price"]]),
    ...mapOf(state.pools, name), el("h2", null, plural(nodes.length, "node")), nodesTable(nodes, "")];
}

// tones are the colours of nodes by what they have in common or by an amount, with the key; null for the colours of state and use.
function tones() {
  const nodes = [...state.nodes.values()];
  if (colour === "zone" || colour === "capacity") {
    const names = [...new Set(nodes.map(n => n[colour] || "unknown"))].sort(), paint = name => `hsl(${(150 + Math.round(names.indexOf(name) * 360 / names.length)) % 360} 42% 50%)`;
    return { of: n => paint(n[colour] || "unknown"), key: names.map(name => [name, paint(name)]) };
  }
  if (colour !== "price" && colour !== "age") return null;
  const value = n => colour === "price" ? n.price : n.created ? Math.max(0, Date.now() / 1000 - n.created) : 0, most = Math.max(...nodes.map(value), 1e-9);
  const paint = part => `hsl(155 38% ${Math.round(72 - 42 * part)}%)`;
  return { of: n => paint(value(n) / most), key: colour === "price" ? [["cheap", paint(0)], [perHour(most, 4), paint(1)]] : [["new", paint(0)], [age(Date.now() / 1000 - most) + " old", paint(1)]] };
}

// The map: squarified areas. Pools hold nodes, nodes hold pods; pods are drawn where there is room.
function squarify(items, x, y, w, h, place) {
  const sum = items.reduce((s, i) => s + i.weight, 0);
  if (!sum || w <= 0 || h <= 0) return;
  const scale = w * h / sum;
  let rest = items;
  while (rest.length) {
    const side = Math.min(w, h);
    let row = [], area = 0, best = Infinity, n = 0;
    for (; n < rest.length; n++) {
      const a = rest[n].weight * scale, total = area + a, all = [...row, a];
      const worst = Math.max(...[Math.max(...all), Math.min(...all)].map(v => Math.max(side * side * v / (total * total), total * total / (side * side * v))));
      if (worst > best) break;
      best = worst; row = all; area = total;
    }
    const thick = area / side;
    let at = 0;
    row.forEach((a, i) => {
      const long = a / thick;
      if (w >= h) place(rest[i], x, y + at, thick, long); else place(rest[i], x + at, y, long, thick);
      at += long;
    });
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    rest = rest.slice(n);
  }
}
const weigh = n => Math.max(size === "price" ? n.price : n[size][1], size === "price" ? 0.005 : size === "cpu" ? 0.5 : 1 << 29);
let areas = [], hovered = null;
function mapOf(pools, zone) {
  const nodes = [...state.nodes.values()].filter(n => (zone == null || n.zone === zone) && pools.some(p => p.name === n.pool && p.kind === n.kind)).length;
  const where = zone != null ? "zone " + zone : pools.length === 1 ? "pool " + poolName(pools[0]) : plural(pools.length, "pool");
  const canvas = el("canvas", { role: "img", "aria-label": "Map of " + plural(nodes, "node") + " in " + where + "; tables list them", tabindex: -1 });
  requestAnimationFrame(() => map(canvas, pools, zone));
  return [el("div.map", null, canvas), el("div.row.after", null, "The map as", el("button", { type: "button", onclick: () => savePNG(canvas) }, "PNG"), el("button", { type: "button", onclick: () => saveSVG(canvas, pools, zone) }, "SVG"))];
}
// A map can be kept: what is on the canvas as PNG, or drawn again as SVG.
function save(name, blob) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
const mapName = kind => ["tenon", state.title, new Date().toISOString().slice(0, 16)].join("-").replace(/[^\w.-]+/g, "-") + "." + kind;
const savePNG = canvas => canvas.toBlob(blob => save(mapName("png"), blob));
function drawing(width, height) {
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif", "font-size": 12 }), ruler = document.createElement("canvas").getContext("2d"), at = v => +v.toFixed(1);
  ruler.font = "12px system-ui, sans-serif";
  const box = (x, y, w, h, more) => root.append(svg("rect", { x: at(x), y: at(y), width: at(Math.max(0, w)), height: at(Math.max(0, h)), ...more }));
  return {
    root, globalAlpha: 1, fillStyle: "", strokeStyle: "", lineWidth: 1, measureText: text => ruler.measureText(text),
    fillRect(x, y, w, h) { box(x, y, w, h, this.globalAlpha < 1 ? { fill: this.fillStyle, "fill-opacity": at(this.globalAlpha) } : { fill: this.fillStyle }); },
    strokeRect(x, y, w, h) { box(x, y, w, h, { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); },
    fillText(text, x, y) { root.append(svg("text", { x: at(x), y: at(y), fill: this.fillStyle, "dominant-baseline": "middle" }, text)); },
  };
}
function mapSVG(canvas, pools, zone) {
  const width = canvas.clientWidth, height = canvas.clientHeight, g = drawing(width, height), kept = areas;
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card").trim(); g.fillRect(0, 0, width, height);
  drawMap(g, width, height, pools, zone);
  areas = kept;
  return g.root.outerHTML;
}
const saveSVG = (canvas, pools, zone) => save(mapName("svg"), new Blob([mapSVG(canvas, pools, zone)], { type: "image/svg+xml" }));
function map(canvas, pools = state.pools, zone) {
  const width = canvas.clientWidth, count = zone == null ? pools.reduce((sum, p) => sum + p.total.nodes, 0) : [...state.nodes.values()].filter(n => n.zone === zone).length, height = Math.round(Math.min(620, Math.max(190, count * 15000 / width + 24 * pools.length)));
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
  const g = canvas.getContext("2d"); g.scale(ratio, ratio); g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle";
  drawMap(g, width, height, pools, zone);
  const hit = e => { const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top; return areas.findLast(a => x >= a.x && x <= a.x + a.w && y >= a.y && y <= a.y + a.h); };
  canvas.onmousemove = e => {
    const a = hit(e);
    tip.hidden = !a;
    if (!a) return;
    if (a.pool) { hovered = a; tip.textContent = a.pool.name + "\na click opens the pool"; }
    if (!a.pool && hovered !== a) {
      hovered = a;
      const n = a.n, lines = [n.name, [n.type, n.capacity, n.zone].filter(Boolean).join(", "), word(n) + ", " + (n.source ? perHour(n.price, 4) : "no price known"), "CPU " + percent(share(n.cpu)) + ", memory " + percent(share(n.memory)) + ", " + plural(n.pods.length, "pod"), n.used ? "really used: CPU " + percent(n.used[0]) + ", memory " + percent(n.used[1]) : ""].filter(Boolean);
      if (n.verdict) lines.push(n.verdict + ": " + n.message);
      if (a.pod) lines.push("", a.pod.namespace + "/" + a.pod.name, cores(a.pod.cpu) + " CPU, " + bytes(a.pod.memory) + (a.pod.daemon ? ", daemon" : ""));
      tip.textContent = lines.join("\n");
    }
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px"; tip.style.top = Math.min(e.clientY + 16, innerHeight - tip.offsetHeight - 8) + "px";
  };
  canvas.onmouseleave = () => { tip.hidden = true; };
  canvas.onclick = e => { const a = hit(e); if (a && a.pool) { tip.hidden = true; location.hash = poolAddress(a.pool.kind, a.pool.name); } else if (a) { tip.hidden = true; location.hash = "#/node/" + encodeURIComponent(a.n.name); } };
}
function drawMap(g, width, height, pools, zone) {
  const css = getComputedStyle(document.documentElement), paint = name => css.getPropertyValue(name).trim();
  const shades = Object.fromEntries(["--card", "--tile", "--idle", "--use", "--daemon", "--warn", "--bad", "--info", "--text", "--soft", "--line"].map(v => [v, paint(v)]));
  const write = (text, x, y, w, shade) => {
    if (w < 24) return;
    while (text.length > 1 && g.measureText(text).width > w) text = text.slice(0, -2) + "…";
    g.fillStyle = shade; g.fillText(text, x, y);
  };
  areas = [];
  const toned = tones();
  const groups = pools.map(p => ({ pool: p, nodes: [...state.nodes.values()].filter(n => n.pool === p.name && n.kind === p.kind && (zone == null || n.zone === zone)).map(n => ({ node: n, weight: weigh(n) })).sort((a, b) => b.weight - a.weight || (a.node.name < b.node.name ? -1 : 1)) }))
    .filter(p => p.nodes.length).map(p => ({ ...p, weight: p.nodes.reduce((s, n) => s + n.weight, 0) })).sort((a, b) => b.weight - a.weight);
  squarify(groups, 6, 6, width - 12, height - 12, (group, x, y, w, h) => {
    write(poolName(group.pool) + "  " + perHour(zone == null ? group.pool.total.price : group.nodes.reduce((sum, i) => sum + i.node.price, 0)), x + 6, y + 12, w - 12, shades["--soft"]);
    const top = h > 60 ? 23 : 2;
    if (top > 2 && group.pool.name && pools.length > 1) areas.push({ pool: group.pool, x, y, w, h: top });
    squarify(group.nodes, x + 2, y + top, w - 4, h - top - 2, (item, nx, ny, nw, nh) => {
      const n = item.node, gap = nw > 14 && nh > 14 ? 2 : 0.5;
      nx += gap; ny += gap; nw -= 2 * gap; nh -= 2 * gap;
      areas.push({ n, x: nx, y: ny, w: nw, h: nh });
      const use = Math.min(1, Math.max(share(n.cpu), share(n.memory)));
      const shade = toned ? toned.of(n) : colour === "state" ? shades[states[stateOf(n)][1]] : shades["--use"];
      g.fillStyle = shades["--idle"]; g.fillRect(nx, ny, nw, nh);
      const title = nh > 44 && nw > 54 ? 18 : 0, room = nh - title;
      g.fillStyle = shade;
      if (colour === "use" && !title) { g.globalAlpha = 0.15 + 0.85 * use; g.fillRect(nx, ny, nw, nh); g.globalAlpha = 1; }
      else if (title && n.pods.length && nw * room / n.pods.length > 40) {
        const pods = n.pods.map(p => ({ pod: p, weight: Math.max(n.cpu[1] ? p.cpu / n.cpu[1] : 0, n.memory[1] ? p.memory / n.memory[1] : 0, 0.004) })).sort((a, b) => b.weight - a.weight);
        const filled = Math.min(1, pods.reduce((s, p) => s + p.weight, 0)) * room;
        squarify(pods, nx + 1, ny + nh - filled, nw - 2, filled - 1, (p, px, py, pw, ph) => {
          g.fillStyle = p.pod.daemon ? shades["--daemon"] : shade; g.globalAlpha = p.pod.ending ? 0.4 : 1;
          g.fillRect(px + 0.5, py + 0.5, Math.max(0.5, pw - 1), Math.max(0.5, ph - 1)); g.globalAlpha = 1;
          areas.push({ n, pod: p.pod, x: px, y: py, w: pw, h: ph });
        });
      } else g.fillRect(nx, ny + title + room * (1 - use), nw, room * use);
      if (stateOf(n) !== "ready" && use < 0.05) { g.strokeStyle = shade; g.lineWidth = 2; g.strokeRect(nx + 1, ny + 1, nw - 2, nh - 2); }
      if (title) write(short(n.name) + "  " + (n.type || word(n)), nx + 5, ny + 10, nw - 8, shades["--text"]);
    });
  });
}

function pendingPage() {
  return [el("h1", null, state.pending.length ? plural(state.pending.length, "pod") + " without a node" : "Pending"), pendingTable(state.pending)];
}
const pendingTable = list => longTable("Pods without a node", [
    { name: "Pod", width: 280, cell: p => [p.name, el("br"), el("span.soft", null, p.namespace + (p.owner ? ", " + p.owner : ""))] }, { name: "Waits", n: 1, width: 80, cell: p => age(p.created) },
    { name: "CPU", n: 1, width: 70, cell: p => cores(p.cpu) }, { name: "Memory", n: 1, width: 90, cell: p => bytes(p.memory) },
    { name: "Why", why: 1, cell: p => [p.why, el("br"), el("span.soft", null, "says the " + p.teller.replace(/^the /, ""))] },
], list, "Every pod has a node.", p => age(p.created));

const order = { name: n => n.name, cpu: n => share(n.cpu), memory: n => share(n.memory), pods: n => n.pods.length, price: n => n.price, age: n => -n.created, type: n => n.type, state: word, pool: n => n.pool };
// What a filter looks for in a node, and its name as it is sorted, are made once for each state of the node.
const texts = new WeakMap();
const textsOf = n => {
  if (!texts.has(n)) texts.set(n, { found: [n.name, n.pool, n.type, n.zone, n.capacity, word(n), n.verdict, n.message].join(" ").toLowerCase(), name: padded(n.name) });
  return texts.get(n);
};
function nodesPage() {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = sorted([...state.nodes.values()].filter(n => words.every(w => textsOf(n).found.includes(w))));
  const input = el("input", { id: "filter", type: "search", value: filter, placeholder: "name, pool, type, zone, state", oninput: e => { filter = e.target.value; history.replaceState(null, "", filter ? "#/nodes/" + encodeURIComponent(filter) : "#/nodes"); draw(); } });
  return [el("h1", null, plural(rows.length, "node")), el("div.row", null, el("label", { for: "filter" }, "Filter", input), el("span", null, "All nodes as ", fileLink("api/nodes.csv", "CSV"), ", ", fileLink("api/fleet", "JSON", "fleet.json")), state.total.used ? el("span", null, "The mark in a bar is what is really used.") : null),
    nodesTable(rows, filter ? "No node matches the filter." : "There are no nodes.")];
}
const fileLink = (href, text, name) => el("a.file", { href, download: name || true }, text);
const nodesTable = (list, empty) => longTable("Nodes", [
  { name: "Node", key: "name", nb: 1, width: 142, cell: nodeLink }, { name: "Pool", key: "pool", nb: 1, width: 110, cell: n => n.pool ? poolLink(n.kind, n.pool) : "–" }, { name: "CPU", key: "cpu", nb: 1, width: 136, cell: n => meter(n.cpu, usedOf(n, 0)) }, { name: "Memory", key: "memory", nb: 1, width: 136, cell: n => meter(n.memory, usedOf(n, 1)) },
  { name: "Pods", key: "pods", n: 1, width: 52, cell: n => n.pods.length }, { name: "Type", key: "type", nb: 1, width: 166, cell: n => [n.type || "–", el("br"), el("span.soft", null, [n.capacity, n.zone].filter(Boolean).join(", "))] },
  { name: unit() + "/h", key: "price", n: 1, width: 82, cell: n => n.source ? number(n.price, 4) : "unknown" }, { name: "Age", key: "age", n: 1, width: 66, cell: n => age(n.created) },
  { name: "State", key: "state", nb: 1, width: 116, cell: n => el("span." + ({ ready: "good", blocked: "good", ill: "bad" }[stateOf(n)] || "warn"), null, word(n)) },
  { name: "Disruption", why: 1, cell: n => n.verdict ? [el("b", null, n.verdict), n.message ? ": " + (n.message.length > 140 ? n.message.slice(0, 140) + "…" : n.message) : ""] : "–" },
], list, empty, n => age(n.created));
// Numbers in names count as numbers: they are compared with zeros before them. A collator does the same ten times slower.
const padded = text => text.toLowerCase().replace(/\d+/g, digits => digits.padStart(12, "0"));
const sorted = list => {
  const by = order[sorting.key] || order.name, named = by === order.name, compare = (x, y) => x < y ? -1 : x > y ? 1 : 0, seen = new Map();
  const key = v => { if (typeof v === "number") return v; if (!seen.has(v)) seen.set(v, padded(v)); return seen.get(v); };
  return list.map(n => [named ? textsOf(n).name : key(by(n)), textsOf(n).name, n]).sort((a, b) => (sorting.down ? -1 : 1) * compare(a[0], b[0]) || compare(a[1], b[1])).map(([, , n]) => n);
};

function nodePage(name) {
  const n = state.nodes.get(name);
  if (!n) return [el("h1", null, name), el("div.card.empty", null, "There is no such node now."), ...pastOf(name)];
  const facts = [["State", word(n) + (n.since && n.phase !== "Ready" ? " for " + age(n.since) : "")], ["Pool", n.pool ? poolLink(n.kind, n.pool) : "–"], ["Type", [n.type, n.arch].filter(Boolean).join(", ") || "–"], ["Capacity type", n.capacity || "unknown"], ["Zone", n.zone || "–"], ["Age", age(n.created)], ["Claim", n.claim || "–"], ["Instance", n.console ? el("a", { href: n.console, target: "_blank", rel: "noopener noreferrer", title: "The cloud's own page about the instance" }, n.instance + " ↗") : n.instance || "–"]];
  const use = (title, parts, text, i) => el("div.wide", null, el("b", null, title + " " + percent(share(parts))), bar(parts, usedOf(n, i)), el("small.soft", null, text(parts[0]) + " of " + text(parts[1]) + " requested, " + text(parts[2]) + " by daemons" + (n.used ? "; " + text(n.used[i] * parts[1]) + " really used" : "")));
  const d = detailsOf("Node", name);
  return [el("h1", null, n.name), n.pods.length || n.phase === "Ready" ? el("p", null, whatIfLink("node", n.name), linksOfNode(n)) : null, ...troubles(d), n.verdict ? el("p.notice.verdict", null, el("b", null, n.verdict), n.message ? ": " + n.message : "") : null,
    el("div.two", null, el("div.card", null, el("dl", null, facts.flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)]))),
      el("div.card", null, use("CPU", n.cpu, cores, 0), el("br"), use("Memory", n.memory, bytes, 1)),
      el("div.card", null, n.source ? el("dl", null, [["Price", money(n.price, 4) + " an hour"], ["A month", money(730 * n.price, 2)], ["From", n.source], ["Idle", money(n.idle, 4) + " an hour"], ["Daemons", money(n.overhead, 4) + " an hour"]].flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)])) : "No price is known.")),
    el("h2", null, plural(n.pods.length, "pod")), table("Pods", [
      { name: "Pod", cell: p => [p.name, el("br"), el("span.soft", null, p.namespace + (p.owner ? ", " + p.owner : "")), ...linksOfPod(p, n.name)] }, { name: "CPU", n: 1, cell: p => cores(p.cpu) }, { name: "Memory", n: 1, cell: p => bytes(p.memory) },
      { name: unit() + "/h", n: 1, cell: p => number(p.cost, 4) }, { name: "Age", n: 1, cell: p => age(p.created) }, { name: "State", nb: 1, cell: p => p.ending ? "Ending" : p.phase }, { name: "Kept by", cell: p => (p.flags || []).join(", ") || "–" },
    ], n.pods, "No pod runs here.")].concat(conditionsTable(d), sectionCards(d), pastOf(n.name), eventsOf(x => x.name === n.name || (n.claim && x.name === n.claim)));
}
// Links to other tools about one thing; what is not known of it makes no link.
function linksTo(of, values) {
  return state.links.filter(l => l.of === of).map(l => {
    let known = true;
    const href = l.address.replace(/\{(\w+)\}/g, (_, key) => { known = known && !!values[key]; return encodeURIComponent(values[key] || ""); });
    return known && /^https?:/.test(href) ? el("a.file", { href, rel: "noreferrer noopener", target: "_blank" }, l.name + " ↗") : null;
  }).filter(Boolean).flatMap(a => [" ", a]);
}
const linksOfNode = n => linksTo("node", { node: n.name === n.claim ? "" : n.name, claim: n.claim, instance: n.instance, pool: n.pool, zone: n.zone, type: n.type });
const linksOfPod = (p, node) => linksTo("pod", { namespace: p.namespace, pod: p.name, node });
function eventsOf(which) {
  const list = state.notices.filter(which);
  return list.length ? [el("h2", null, "Events"), eventTable(list)] : [];
}
const eventTable = list => table("Events", [{ name: "Age", n: 1, cell: x => age(x.at) }, { name: "Object", mid: 1, cell: x => x.kind === "Node" || x.kind === "NodeClaim" ? el("a", { href: "#/node/" + encodeURIComponent(x.name), title: x.name }, x.kind + " " + short(x.name)) : x.kind === "NodePool" ? el("a", { href: poolAddress(x.kind, x.name) }, x.kind + " " + x.name) : x.kind === "EC2NodeClass" ? el("a", { href: "#/class/" + x.kind + "/" + encodeURIComponent(x.name) }, x.kind + " " + x.name) : x.kind + " " + x.name }, { name: "Reason", long: 1, cell: x => el(x.warning ? "span.warn" : "span", null, x.reason) }, { name: "Message", why: 1, cell: x => x.message }], list, "No events have been seen.");

// Details of the object whose page is open are asked for while it is: they would make the stream large.
const detailed = { key: "", value: null };
function detailsKey() {
  const [, page, name, more] = location.hash.split("/").map(decodeURIComponent);
  if (!name) return null;
  if (page === "node") return ["Node", name];
  if (page === "class") return more ? [name, more] : null;
  const p = page === "pool" || page === "group" ? poolOf(page, name) : null;
  return p && p.object ? [p.kind === "NodePool" ? "NodePool" : "NodeGroup", p.object] : null;
}
async function readDetails() {
  const asked = detailsKey();
  if (!asked) return;
  const key = asked.join("/");
  let value = null;
  try { value = await ask("api/details/" + asked.map(encodeURIComponent).join("/")); } catch { /* there is no such object, or the server is gone; the page says what it has */ }
  if (key !== (detailsKey() || []).join("/")) return;
  Object.assign(detailed, { key, value });
  draw();
}
const detailsOf = (kind, name) => detailed.key === kind + "/" + name ? detailed.value : null;
const poolOf = (page, name) => (state.pools || []).find(p => p.name === name && (p.kind === "NodePool") === (page === "pool"));
const since = at => at ? age(Date.parse(at) / 1000) : "–";
const troubles = d => d ? d.conditions.filter(c => c.attention).map(c => el("p.notice", null, el("b", null, c.type + " is " + c.status + (c.reason && c.reason !== c.type ? ": " + c.reason : "")), c.message ? [el("br"), c.message] : null)) : [];
function conditionsTable(d) {
  if (!d || !d.conditions.length) return [];
  const seconds = kind => { const c = d.conditions.find(x => x.of === "NodeClaim" && x.type === kind && x.status === "True"); return c && d.created ? Math.max(0, Math.round((Date.parse(c.since) - Date.parse(d.created)) / 1000)) : null; };
  const steps = d.kind === "Node" ? ["Launched", "Registered", "Initialized"].map(kind => [kind, seconds(kind)]).filter(([, s]) => s != null) : [];
  return [el("h2", null, "Conditions"), steps.length ? el("p.soft", null, steps.map(([kind, s]) => kind.toLowerCase() + " after " + s + " s").join(", ").replace(/^./, c => c.toUpperCase()) + ".") : null, table("Conditions", [
    { name: "For", n: 1, cell: c => since(c.since) }, { name: "Condition", long: 1, cell: c => [el(c.attention ? "b.warn" : "b", null, c.type), d.kind === "Node" ? el("span.soft", null, " " + c.of) : null] },
    { name: "Is", nb: 1, cell: c => c.status }, { name: "Reason", long: 1, cell: c => c.reason || "–" }, { name: "Message", why: 1, cell: c => c.message || "–" },
  ], d.conditions, "")];
}
function sectionCards(d) {
  if (!d || !d.sections.length) return [];
  return [el("h2", null, "Settings and facts"), el("div.two", null, d.sections.map(s => el("section.card", null, el("h2", null, s.title), el("dl.tight", null, s.facts.flatMap(f => [el("dt", null, f.name), el("dd", null, f.value)])))))];
}
const allowance = n => n < 0 ? "any number" : String(n);
function budgetsPart(d) {
  const b = d && d.budgets;
  if (!b) return [];
  return [el("h2", null, "Disruption budgets"), el("p.soft", null, "Of " + plural(b.nodes, "node") + ", " + b.disrupting + (b.disrupting === 1 ? " is" : " are") + " going or not ready. At the same time may go: " + b.allowed.map(a => allowance(a.nodes) + " " + a.reason.toLowerCase()).join(", ") + "."
    + (b.turns ? " This changes at " + new Date(b.turns).toISOString().slice(0, 16).replace("T", " ") + " UTC." : "")),
    table("Disruption budgets", [{ name: "Nodes", nb: 1, cell: l => l.nodes }, { name: "Allows now", n: 1, cell: l => l.problem ? "none" : l.active ? allowance(l.allowed) : "not active" }, { name: "For", cell: l => l.reasons.join(", ").toLowerCase() || "every reason" },
      { name: "When", cell: l => l.schedule ? l.schedule + " (UTC) for " + l.duration : "always" }, { name: "Problem", cell: l => l.problem || "–" }].filter(c => c.name !== "Problem" || b.lines.some(l => l.problem)), b.lines, "No budget bounds disruptions."), ...calendarPart(b)];
}
// fold hides a part of a page until it is asked for. Which parts are shown is kept while the page is drawn again.
const unfolded = new Set();
const fold = (key, title, ...content) => el("details", { open: unfolded.has(key), ontoggle: e => { if (e.target.open) unfolded.add(key); else unfolded.delete(key); } }, el("summary", { id: "fold-" + key }, title), content);
// The next week: a strip for each day of UTC, and the same as a table.
function calendarPart(b) {
  if (!b.calendar.length) return [];
  const day = 86400000, stamp = at => new Date(at).toISOString().slice(0, 16).replace("T", " "), say = p => p.allowed.map(a => allowance(a.nodes) + " " + a.reason.toLowerCase()).join(", ");
  const sum = p => p.allowed.reduce((n, a) => n + (a.nodes < 0 ? 1e9 : a.nodes), 0), most = Math.max(...b.calendar.map(sum)), tone = p => !sum(p) ? "var(--bad)" : sum(p) < most ? "var(--warn)" : "var(--use)";
  const first = Math.floor(Date.parse(b.calendar[0].from) / day) * day, last = Date.parse(b.calendar.at(-1).until), strips = [];
  for (let at = first; at < last; at += day) {
    const parts = b.calendar.filter(p => Date.parse(p.from) < at + day && Date.parse(p.until) > at).map(p => {
      const from = Math.max(at, Date.parse(p.from)), until = Math.min(at + day, Date.parse(p.until));
      return el("i", { title: stamp(from) + " to " + stamp(until) + ": " + say(p), style: { left: 100 * (from - at) / day + "%", width: 100 * (until - from) / day + "%", background: tone(p) } });
    });
    strips.push(el("div.day", null, el("span", null, new Date(at).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })), el("div.hours", null, parts)));
  }
  return [el("h2", null, "Budgets in the next week"), el("div.card.calendar", { "aria-hidden": "true" }, strips, el("div.row", null, [["most nodes may go", "--use"], ["fewer may", "--warn"], ["none may", "--bad"]].map(([text, v]) => el("span.key", null, el("i", { style: { background: `var(${v})` } }), text)))),
    fold("calendar", "The same as a table", table("Budgets in the next week", [{ name: "From (UTC)", nb: 1, cell: p => stamp(p.from) }, { name: "Until", nb: 1, cell: p => stamp(p.until) }, { name: "At the same time may go", cell: say }], b.calendar.slice(0, 30), ""))];
}
function limitsPart(p) {
  if (!p.limits.length) return [];
  return [el("h2", null, "Limits"), table("Limits", [{ name: "Resource", cell: l => l.name }, { name: "Use", nb: 1, cell: l => meter([l.have, l.most, 0]) }, { name: "Has", n: 1, cell: l => amount(l.name, l.have) }, { name: "Limit", n: 1, cell: l => amount(l.name, l.most) }, { name: "Left", n: 1, cell: l => amount(l.name, Math.max(0, l.most - l.have)) }], p.limits, "")];
}
// What keeps nodes, by the word of their verdict, the most frequent first.
function verdictsPart(nodes) {
  const by = new Map();
  for (const n of nodes) if (n.verdict) by.set(n.verdict, [...(by.get(n.verdict) || []), n]);
  const rows = [...by].sort((a, b) => b[1].length - a[1].length);
  return rows.length ? [el("h2", null, "What becomes of its nodes"), table("What becomes of its nodes", [{ name: "Verdict", nb: 1, cell: ([v]) => el("b", null, v) }, { name: "Nodes", n: 1, cell: ([, list]) => list.length }, { name: "Such as", nb: 1, cell: ([, list]) => nodeLink(list[0]) }, { name: "Why", why: 1, cell: ([, list]) => list[0].message || "–" }], rows, "")] : [];
}
function poolPage(page, name) {
  const p = poolOf(page, name);
  if (!p) return [el("h1", null, name), el("div.card.empty", null, "There is no such pool now."), ...pastOf(name)];
  const t = p.total, d = detailsOf(p.kind === "NodePool" ? "NodePool" : "NodeGroup", p.object), nodes = sorted([...state.nodes.values()].filter(n => n.pool === p.name && n.kind === p.kind));
  const waiting = state.pending.filter(x => x.why.includes("pool " + name + ":")), [kind, klass] = p.class.split("/");
  return [el("h1", null, el("span.soft", null, p.kind + " "), p.name), ...(d ? troubles(d) : notices(p.notices)), d && d.leaves ? el("p.notice", null, "It is being deleted since " + since(d.leaves) + ".") : null, figures([
    [hourly(t.price), "Price now", month(t.price) + (t.unpriced ? "; " + t.unpriced + " unpriced" : "")],
    [hourly(t.idle), "Idle", t.price ? percent(t.idle / t.price) + " of the price" : ""], poolBound(p),
    [t.nodes, "Nodes", t.ready + " ready" + (t.leaving ? ", " + t.leaving + " leaving" : "")], [t.blocked, "Must not go", "of its nodes"],
    [percent(share(t.cpu)), "CPU requested", cores(t.cpu[0]) + " of " + cores(t.cpu[1]) + usedNote(t, 0)], [percent(share(t.memory)), "Memory requested", bytes(t.memory[0]) + " of " + bytes(t.memory[1]) + usedNote(t, 1)],
    p.moves.count ? [hourly(p.moves.realised), "Saved by moves", perHour(p.moves.expected) + " expected, " + plural(p.moves.count, "move")] : null]),
    klass ? el("p", null, "Its nodes are of class ", el("a", { href: "#/class/" + encodeURIComponent(kind) + "/" + encodeURIComponent(klass) }, klass), ". ", whatIfLink("nodepool", p.name), linksTo("pool", { pool: p.name })) : null,
    ...(p.total.nodes ? mapOf([p]) : []),
    ...limitsPart(p), ...budgetsPart(d), ...verdictsPart(nodes),
    ...(waiting.length ? [el("h2", null, "Pods that wait and could not use it"), pendingTable(waiting)] : []),
    el("h2", null, plural(nodes.length, "node")), nodesTable(nodes, "It has no node."),
    ...conditionsTable(d), ...sectionCards(d), ...pastOf(name), ...eventsOf(x => x.name === p.object && ["NodePool", "NodeGroup"].includes(x.kind))];
}
function classPage(kind, name) {
  const d = detailsOf(kind, name), users = state.pools.filter(p => p.class === kind + "/" + name);
  const head = [el("h1", null, el("span.soft", null, kind + " "), name)];
  if (!d) return [...head, el("div.card.empty", null, detailed.key === kind + "/" + name ? "There is no such class now, or it may not be read." : "Reading the class …")];
  return [...head, ...troubles(d), d.leaves ? el("p.notice", null, "It is being deleted since " + since(d.leaves) + ".") : null, el("p", null, users.length ? "Pools that use it: " : "No pool uses it.", users.flatMap((p, i) => [i ? ", " : "", poolLink(p.kind, p.name)])),
    ...conditionsTable(d), ...sectionCards(d), ...eventsOf(x => x.kind === kind && x.name === name)];
}

// The market is large, and changes every few minutes: it is asked for while its page is open.
const sold = { value: null, asked: 0, filter: "", pool: "", fit: null };
async function readFit() {
  const pool = sold.pool;
  sold.fit = null;
  if (pool) { let fit; try { fit = await ask("api/pools/" + encodeURIComponent(pool) + "/fit"); } catch (e) { fit = { types: {}, problem: e.message }; } if (pool === sold.pool) sold.fit = fit; }
  draw();
}
async function readMarket() {
  if (shows() !== "market" || Date.now() - sold.asked < 60000) return;
  sold.asked = Date.now();
  if (sold.pool) readFit();
  try { sold.value = await ask("api/market"); } catch { sold.value = { at: 0, types: [] }; }
  draw();
}
// What the dashboard has seen of spot since it began to look.
function spotPart(s) {
  if (!s || !s.since) return [];
  const seen = "Since the dashboard began to look, " + age(s.since) + " ago.";
  return [el("h2", null, "Spot machines that were taken back"), el("p.soft", null, seen), table("Spot machines that were taken back", [
    { name: "Type", nb: 1, cell: r => r.type || "unknown" }, { name: "Zone", nb: 1, cell: r => r.zone || "–" }, { name: "Taken back", n: 1, cell: r => r.count }, { name: "Advised to leave", n: 1, cell: r => r.advised }, { name: "Last", n: 1, cell: r => r.last ? age(r.last) + " ago" : "–" }, { name: "Run now", n: 1, cell: r => r.running },
  ], s.returned, "No interruption has been seen."), el("h2", null, "Spot prices that changed"), el("p.soft", null, s.recalled ? "Since " + age(s.recalled) + " ago: before the dashboard began to look, by what the journal's decisions paid." : seen), table("Spot prices that changed", [
    { name: "Type", nb: 1, cell: p => p.type }, { name: "Zone", nb: 1, cell: p => p.zone }, { name: unit() + "/h now", n: 1, cell: p => number(p.now, 4) }, { name: "Lowest", n: 1, cell: p => number(p.least, 4) }, { name: "Highest", n: 1, cell: p => number(p.most, 4) }, { name: "Changes", n: 1, cell: p => p.changes }, { name: "Last", n: 1, cell: p => age(p.at) + " ago" },
  ], s.prices, "No spot price has changed.")];
}
const until = at => at ? (at * 1000 > Date.now() ? "in " + age(2 * Date.now() / 1000 - at) : "now") : "–";
function marketPage() {
  const head = el("h1", null, "Market"), m = sold.value;
  if (!m) return [head, el("div.card.empty", null, "Reading what is sold …")];
  if (!m.at) return [head, el("div.card.empty", null, "No controller publishes its market here, or it may not be read.")];
  const out = m.types.flatMap(t => t.offers.filter(o => !o.stock).map(o => ({ ...o, name: t.name }))).sort((a, b) => b.since - a.since || (a.name < b.name ? -1 : 1));
  const words = sold.filter.toLowerCase().split(/\s+/).filter(Boolean), least = (t, capacity) => { const prices = t.offers.filter(o => o.capacity === capacity && o.stock).map(o => o.price); return prices.length ? Math.min(...prices) : null; };
  const rows = m.types.filter(t => words.every(w => [t.name, t.arch].join(" ").toLowerCase().includes(w))).map(t => ({ ...t, spot: least(t, "spot"), demand: least(t, "on-demand") })), price = v => v == null ? "–" : number(v, 4);
  const places = (t, capacity) => { const all = t.offers.filter(o => o.capacity === capacity); return all.length ? all.filter(o => o.stock).length + " of " + all.length : "–"; };
  const input = el("input", { id: "market-filter", type: "search", value: sold.filter, placeholder: "name, architecture", oninput: e => { sold.filter = e.target.value; draw(); } });
  const fit = sold.pool && sold.fit && !sold.fit.problem ? sold.fit.types : null, why = t => fit[t.name] == null ? "its class does not sell it" : fit[t.name];
  const choose = el("select", { id: "market-pool", onchange: e => { sold.pool = e.target.value; readFit(); } }, [["", "any pool"], ...state.pools.filter(p => p.kind === "NodePool").map(p => [p.name, p.name])].map(([value, text]) => el("option", { value, selected: value === sold.pool }, text)));
  if (fit) rows.sort((a, b) => !!why(a) - !!why(b));
  return [head, el("p.soft", null, "What the controller published " + age(m.at) + " ago, before any NodeOverlay."),
    el("h2", null, "Out of stock now"), out.length > 100 ? el("p.soft", null, "The newest 100 of " + out.length.toLocaleString("en-US") + " are shown.") : null, table("Out of stock now", [
      { name: "Type", nb: 1, cell: o => o.name }, { name: "Zone", nb: 1, cell: o => o.zone }, { name: "Capacity type", nb: 1, cell: o => o.capacity }, { name: unit() + "/h", n: 1, cell: o => number(o.price, 4) },
      { name: "Since", n: 1, cell: o => o.since ? age(o.since) : "unknown" }, { name: "Tried again", n: 1, cell: o => until(o.until) }], out.slice(0, 100), "Nothing that is sold is known to be out of stock."),
    ...spotPart(m.spot),
    el("h2", null, "Instance types"), el("div.row", null, el("label", { for: "market-filter" }, "Filter", input), el("label", { for: "market-pool" }, "For", choose), fit ? plural(rows.filter(t => !why(t)).length, "type") + " may be bought for pool " + sold.pool + ", by the snapshot of decision " + sold.fit.decision + "." : sold.fit && sold.fit.problem, rows.length > 100 ? "The first 100 of " + rows.length.toLocaleString("en-US") + " are shown." : null), table("Instance types", [
      { name: "Type", nb: 1, cell: t => t.name }, { name: "Architecture", nb: 1, cell: t => t.arch || "–" }, { name: "CPU", n: 1, cell: t => cores(t.cpu) }, { name: "Memory", n: 1, cell: t => bytes(t.memory) },
      { name: "On-demand " + unit() + "/h", n: 1, cell: t => price(t.demand) }, { name: "Zones", n: 1, cell: t => places(t, "on-demand") }, { name: "Spot " + unit() + "/h from", n: 1, cell: t => price(t.spot) }, { name: "Zones of spot", n: 1, cell: t => places(t, "spot") },
      ...(fit ? [{ name: "For pool " + sold.pool, why: 1, cell: t => why(t) ? el("span.soft", null, why(t)) : el("span.good", null, "may be bought") }] : []),
    ], rows.slice(0, 100), "No type matches the filter.")];
}

function chart(samples) {
  if (samples.length < 2) return el("div.empty", null, "The chart begins in a few seconds.");
  const w = 1000, h = 150, t0 = samples[0].at, span = Math.max(1, samples.at(-1).at - t0), most = Math.max(...samples.map(s => s.price), 0.001) * 1.1;
  // A price holds until the next one: the line has steps.
  const x = s => ((s.at - t0) / span * w).toFixed(1), y = (s, key) => (h - s[key] / most * h).toFixed(1), line = (list, key) => list.map((s, i) => i ? "H" + x(s) + "V" + y(s, key) : "M" + x(s) + "," + y(s, key)).join("");
  const area = (list, key, kind) => list.length < 2 ? [] : [svg("path", { class: kind, d: line(list, key) + `L${x(list.at(-1))},${h}L${x(list[0])},${h}Z` })];
  const days = span > 86400, clock = at => new Date(at * 1000).toLocaleString("en-GB", days ? { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } : { hour: "2-digit", minute: "2-digit" });
  return el("div", null, svg("svg", { class: "chart", viewBox: `0 0 ${w} ${h}`, preserveAspectRatio: "none", role: "img", "aria-label": "Price an hour over time, from " + clock(t0) }, ...area(samples, "price", "area"), ...area(samples.filter(s => s.idle != null), "idle", "area idle"), svg("path", { class: "stroke", d: line(samples, "price") })),
    el("div.row", null, clock(t0) + " to " + clock(samples.at(-1).at), el("span", null, "highest " + perHour(Math.max(...samples.map(s => s.price)))), el("span.key", null, el("i", { style: { background: "var(--use)" } }), "price"), el("span.key", null, el("i", { style: { background: "var(--daemon)" } }), "idle")));
}
// The price over longer times, which Prometheus has.
const longer = { span: "", value: null, asked: 0 };
async function readLonger() {
  const span = longer.span;
  if (shows() !== "cost" || !span || Date.now() - longer.asked < 60000) return;
  longer.asked = Date.now();
  let value;
  try { value = await ask("api/cost/" + span); } catch (e) { value = { samples: [], problem: e.message }; }
  if (span === longer.span) { longer.value = value; draw(); }
}
function chartCard() {
  const pick = span => { Object.assign(longer, { span, value: null, asked: 0 }); draw(); readLonger(); }, v = longer.value;
  const content = !longer.span ? chart(state.history) : !v ? el("div.empty", null, "Asking Prometheus …") : v.problem ? el("p.notice", null, v.problem) : v.samples.length < 2 ? el("div.empty", null, "Prometheus has no price of this time.") : chart(v.samples);
  return el("div.card", null, state.spans ? el("div.row", { role: "group", "aria-label": "Span of time" }, [["", "Now"], ["day", "Day"], ["week", "Week"], ["month", "Month"]].map(([span, text]) => el("button", { id: "span-" + span, type: "button", "aria-pressed": String(span === longer.span), onclick: () => pick(span) }, text))) : null, content);
}
// The newest decisions that change the price, each with the way to its reasons.
function stepsTable() {
  const steps = (decided.decisions || []).filter(d => d.change).slice(0, 8);
  if (!steps.length) return [];
  return [el("h2", null, "Decisions that change the price"), table("Decisions that change the price", [{ name: "Age", n: 1, cell: d => age(d.at) }, { name: "Change", n: 1, cell: d => el(d.change > 0 ? "span" : "span.good", null, (d.change > 0 ? "+" : "−") + perHour(Math.abs(d.change))) }, { name: "Decision", why: 1, cell: d => el("a", { href: "#/decisions/" + d.id }, d.text) }, { name: "Woken by", cell: d => d.woke || "–" }], steps, "")];
}
function costPage() {
  const t = state.total;
  const parts = lines => el("table", null, el("tbody", null, lines.slice(0, 12).map(l => el("tr", null, el("td", null, l.name), el("td.nb", null, bar([l.price, t.price || 1, 0])), el("td.n", null, number(l.price)), el("td.n.soft", null, t.price ? percent(l.price / t.price) : "")))));
  return [el("h1", null, "Cost"), figures([[hourly(t.price), "Price now", month(t.price)], boundFigure(), [hourly(t.idle), "Idle", "what no pod requests"], [hourly(t.overhead), "Daemons", "pods of every node"], t.unpriced ? [t.unpriced, "Unpriced nodes", "not in the sums", "warn"] : null]),
    chartCard(), ...stepsTable(), el("h2", null, unit() === "price" ? "Price an hour, divided" : "Price an hour, divided, in " + unit()),
    el("div.two", null, ["pool", "namespace", "owner", "capacity type", "type", "zone"].map(by => el("section.card", null, el("h2", null, "By " + by), parts(state.costs[by]))), rulesCard(), movesCard()),
    el("p.soft", null, (state.market ? "Spot prices are those that the controller published " + age(state.market) + " ago; other nodes cost what they were bought for." : "Prices are estimates by list prices: no controller publishes its market here, or it may not be read.") + (state.discounts ? " What is paid is less: " + state.discounts + "." : "") + " A pod's part is the larger of its parts of CPU and memory; a month has 730 hours. All of it as ", fileLink("api/costs.csv", "CSV"), ".")];
}

// Decisions are asked for while their page is open.
const decided = { journal: true, decisions: null, open: null, problem: "" };
const shows = () => location.hash.split("/")[1] || "fleet";
async function ask(path) { const answer = await fetch(path); if (!answer.ok) throw new Error(await answer.text()); return answer.json(); }
async function readDecisions() {
  if (!["decisions", "cost"].includes(shows())) return;
  const id = shows() === "decisions" && location.hash.split("/")[2];
  try {
    const list = await ask("api/decisions");
    let open = null;
    if (id) open = await ask("api/decisions/" + encodeURIComponent(id)).catch(e => ({ id: +id, missing: e.message }));
    if (shows() === "decisions" && location.hash.split("/")[2] !== (id || undefined)) return;
    Object.assign(decided, { problem: "", warning: "", open }, list);
  } catch (e) { decided.problem = e.message; }
  draw();
}
// The assessment takes effort to make, and is made seldom: it is asked for while a page that shows it is open.
const assessed = { value: null, asked: 0 };
async function readAssessment() {
  if (!["fleet", "cost", "pool"].includes(shows()) || Date.now() - assessed.asked < 60000) return;
  assessed.asked = Date.now();
  try { assessed.value = await ask("api/assessment"); } catch (e) { assessed.value = { problem: e.message, rules: [] }; }
  draw();
}
const assessedAgo = () => age(Date.parse(assessed.value.at) / 1000) + " ago";
function boundFigure() {
  const a = assessed.value;
  if (!a || a.problem) return null;
  return a.unplaced ? ["none", "Proven bound", plural(a.unplaced, "pod") + " without a place, " + assessedAgo()] : [hourly(a.bound), "Proven bound", "bought anew, " + assessedAgo()];
}
function poolBound(p) {
  const a = assessed.value, b = a && a.pools && a.pools.find(x => x.name === p.name);
  if (!b || p.kind !== "NodePool") return null;
  return b.unplaced ? ["none", "Proven bound", plural(b.unplaced, "pod") + " without a place, " + assessedAgo()] : [hourly(b.bound), "Proven bound", "for its pods and those that wait, " + assessedAgo()];
}
function rulesCard() {
  const a = assessed.value;
  if (!a) return null;
  const rows = a.rules.map(r => el("tr", null, el("td", null, r.text), el("td.n", null, r.pods > 0 ? plural(r.pods, "pod") + " without a place" : perHour(r.price))));
  const say = a.problem || (rows.length ? "" : "No rule costs anything in a fleet that is bought anew.");
  return el("section.card", null, el("h2", null, "What rules cost"), rows.length ? el("table", null, el("tbody", null, rows)) : el("p.soft", null, say),
    a.problem ? null : el("p.soft", null, "Of a fleet for the same pods that is bought anew, by the snapshot of decision " + a.decision + ", " + assessedAgo() + ". What single rules cost does not add up." + (a.unexamined ? " " + plural(a.unexamined, "rule") + " were not examined one by one." : "")));
}
function movesCard() {
  const pools = state.pools.filter(p => p.moves.count);
  const row = p => el("tr", null, el("td", null, poolName(p)), el("td.n", null, plural(p.moves.count, "move")), el("td.n", null, perHour(p.moves.expected)), el("td.n", null, perHour(p.moves.realised)));
  return el("section.card", null, el("h2", null, "Saved by moves"), pools.length ? el("table", null, el("thead", null, el("tr", null, el("th", { scope: "col" }, "Pool"), el("th.n", { scope: "col" }, "Moves"), el("th.n", { scope: "col" }, "Expected"), el("th.n", { scope: "col" }, "Realised"))), el("tbody", null, pools.map(row))) : el("p.soft", null, "No move that was made to save money has settled yet."));
}
// What the journal has about the node whose page is open.
const past = { name: "", list: [] };
async function readPast() {
  const [, page, name] = location.hash.split("/");
  if (!["node", "pool", "group"].includes(page) || !name) return;
  const n = page === "node" && state.nodes.get(decodeURIComponent(name)), about = [decodeURIComponent(name), n && n.claim].filter(Boolean);
  try {
    const found = await ask("api/decisions?" + about.map(x => "about=" + encodeURIComponent(x)).join("&"));
    Object.assign(past, { name: decodeURIComponent(name), list: found.decisions });
  } catch { past.list = []; }
  draw();
}
function pastOf(name) {
  if (past.name !== name || !past.list.length) return [];
  return [el("h2", null, "Decisions about it"), table("Decisions about it", [{ name: "Age", n: 1, cell: d => age(d.at) }, { name: "Decision", why: 1, cell: d => el("a", { href: "#/decisions/" + d.id }, d.text) }, { name: "Woken by", cell: d => d.woke || "–" }], past.list, "")];
}
const later = code => code ? el("span.soft", null, ", later: " + code) : null;
// What came of deciding again, by the number of the decision.
const replays = new Map();
async function decideAgain(id) {
  replays.set(id, "Deciding …"); draw();
  try {
    const answer = await fetch("api/decisions/" + id + "/replay", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    if (!answer.ok) throw new Error(await answer.text());
    const r = await answer.json(), what = plural(r.nodes, "new node") + ", " + plural(r.disruptions, "disruption") + ", " + plural(r.unplaced, "pod") + " without a place";
    replays.set(id, (r.same ? "The same plan, byte for byte: " : "Another plan: this version decides otherwise than the one that recorded it: ") + what + ".");
  } catch (e) { replays.set(id, e.message); }
  draw();
}
function decisionCard(d) {
  const perHour = v => number(v, 4) + (d.cost && d.cost.currency ? " " + d.cost.currency : "") + "/h";
  if (d.missing) return el("div.card", null, d.missing);
  if (d.intervention) return el("div.card.decision", null, el("dl", null, [["Changed", d.intervention.verb + " " + d.intervention.kind + "/" + d.intervention.name], ["By", d.intervention.by], ["With", d.woke]].flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)])));
  const part = (title, rows) => rows && rows.length ? [el("h2", null, title), el("ul", null, rows.map(r => el("li", null, r)))] : [];
  const cost = d.cost ? [["Fleet", perHour(d.cost.fleetPerHourBefore) + " → " + perHour(d.cost.fleetPerHourAfter)]].concat(d.cost.newPerHour ? [["New nodes", perHour(d.cost.newPerHour)], ["Proven bound", d.cost.lowerBoundPerHour ? perHour(d.cost.lowerBoundPerHour) + ": no plan costs less" : "none was proven"]] : []) : [];
  const facts = [["By", d.by], ["Woken by", d.woke || "–"], ...cost, ["Took", (d.tookMicros / 1000).toFixed(1) + " ms"], ["Said again", d.again ? d.again + " times" : "no"], ["Snapshot", d.snapshot ? el("a", { href: "api/decisions/" + d.id + "/snapshot", download: "decision-" + d.id + ".json" }, "decision-" + d.id + ".json") : "was not kept"]];
  return el("div.card.decision", null, el("dl", null, facts.flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)])), d.snapshot ? el("div.row.again", null, el("button", { id: "again", type: "button", onclick: () => decideAgain(d.id) }, "Decide again"), el("span", { role: "status" }, replays.get(d.id) || "from its snapshot, with the same effort")) : null,
    part("Buys", (d.launches || []).map(l => [el("b", null, l.nodes + " × " + l.instanceType), " " + l.capacityType + " in " + l.zone + ", pool " + l.nodePool + ", for " + plural(l.pods, "pod") + ", " + perHour(l.pricePerHour) + " each", later(l.waitsFor)])),
    part("Gives up", (d.disruptions || []).map(x => [el("b", null, x.nodes.join(", ")), " (" + x.decision + ", " + x.reason + "): " + plural(x.evictions || 0, "eviction") + ", " + plural(x.replacements || 0, "replacement") + ", saves " + perHour(x.savingsPerHour), later(x.waitsFor)])),
    part("No place", (d.unplaced || []).map(u => [el("b", null, u.names.join(", ") + (u.pods > u.names.length ? " and " + (u.pods - u.names.length) + " more" : "")), ": " + u.why])),
    part("Nodes stay", Object.entries(d.kept || {}).sort((a, b) => b[1] - a[1]).map(([code, n]) => n + " × " + code)),
    part("Came of it", (d.outcomes || []).map(o => [el(o.result === "failed" ? "b.bad" : "b", null, o.action + " " + o.result), " " + (o.nodeClaims || []).join(", ") + (o.why ? ": " + o.why : "") + (o.realisedPerHour != null ? ", saves " + perHour(o.realisedPerHour) : "") + ", " + age(Date.parse(o.at) / 1000) + " ago"])));
}
function decisionsPage(id) {
  const out = [el("h1", null, "Decisions")];
  if (!decided.journal) return out.concat(el("div.card.empty", null, "No journal is read. Give the command --journal with the address of the controller's metrics port, a folder or a file."));
  for (const text of [decided.problem, decided.warning]) if (text) out.push(el("p.notice", null, text));
  if (!decided.decisions) return out.concat(el("div.card.empty", null, "Reading the journal …"));
  if (!decided.decisions.length) return out.concat(el("div.card.empty", null, "Nothing has been decided yet."));
  const open = decided.open && String(decided.open.id) === id ? decided.open : null;
  const rows = decided.decisions.map(d => {
    const mine = String(d.id) === id;
    return el("li", null, el("a", { id: "d" + d.id, href: mine ? "#/decisions" : "#/decisions/" + d.id, "aria-expanded": String(mine) },
      el("time", { title: new Date(d.at * 1000).toISOString() }, age(d.at)), el(d.failed ? "span.bad" : "span", null, d.text + (d.failed ? "; a write failed" : "")), el("span.soft", null, d.woke)), mine && open ? decisionCard(open) : null);
  });
  if (open && !decided.decisions.some(d => String(d.id) === id)) out.push(decisionCard(open));
  return out.concat(el("ol.timeline", null, rows));
}

// The page What-if is made once: what is typed into it must stay while the fleet changes.
const whatIf = { page: null };
// Pages about a node or a pool lead to #/whatif/KIND/NAME: the question what would be if that object were not there.
const whatIfLink = (kind, name) => el("a", { href: "#/whatif/" + kind + "/" + encodeURIComponent(name) }, "What if it were not there?");
function fillIn() {
  const [, page, kind, name] = location.hash.split("/");
  if (page !== "whatif" || !name) return;
  document.getElementById("without").value = kind + "/" + decodeURIComponent(name);
  history.replaceState(null, "", "#/whatif");
}
function whatIfPage() {
  if (whatIf.page) return whatIf.page;
  const result = el("div", { id: "whatif-result", role: "status" }), manifests = el("textarea", { id: "manifests", rows: 12, spellcheck: "false", placeholder: "apiVersion: karpenter.sh/v1\nkind: NodePool\n…" });
  const line = (id, name, hint) => [el("label", { for: id }, name), el("input", { id, type: "text", placeholder: hint, autocomplete: "off" })];
  const words = id => document.getElementById(id).value.split(/[\s,]+/).filter(Boolean);
  const go = el("button.primary", { type: "submit" }, "Plan both ways");
  const submit = async e => {
    e.preventDefault();
    go.disabled = true;
    result.replaceChildren(el("div.card.empty", null, "Planning …"));
    try {
      const answer = await fetch("api/whatif", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ manifests: manifests.value, scale: words("scale"), without: words("without"), spotInterrupted: words("zones") }) });
      if (!answer.ok) throw new Error(await answer.text());
      result.replaceChildren(...whatIfResult(await answer.json()));
    } catch (error) { result.replaceChildren(el("p.notice", null, error.message)); }
    go.disabled = false;
  };
  whatIf.page = [el("h1", null, "What if …"), el("p.soft", null, "Makes two plans for the newest recorded snapshot of the cluster, one as it is and one with the change, and shows how they differ. Nothing is changed."),
    el("form", { onsubmit: submit }, el("div.two", null, el("div.card", null, el("label", { for: "manifests" }, "… these objects were added, or replaced those of their names"), manifests),
      el("div.card.fields", null, line("scale", "… a workload had so many replicas", "deployment/web=500"), line("without", "… an object were not there", "nodepool/old"), line("zones", "… all spot nodes of a zone were taken away", "us-west-2a"), go))), result];
  return whatIf.page;
}
function whatIfResult(answer) {
  const d = answer.difference, sign = (v, text) => (v > 0 ? "+" : v < 0 ? "−" : "±") + text(Math.abs(v)), amount = v => money(v, 4);
  const change = (name, key, text, good) => { const by = d.with[key] - d.without[key]; return [sign(by, text), name, text(+d.without[key]) + " → " + text(+d.with[key]), by === 0 || !good ? "" : by < 0 ? "good" : "warn"]; };
  return [el("h2", null, "Difference"), figures([change("Fleet an hour", "fleetPerHour", amount, true), change("Nodes", "nodes", String), change("Evictions", "evictions", String, true), change("Without a place", "unschedulable", String, true)]),
    d.notes ? el("p.notice", null, d.notes) : null, el("pre.card.scroll", { tabindex: 0, role: "region", "aria-label": "The difference in words" }, d.text),
    el("p.soft", null, "By the snapshot of decision ", el("a", { href: "#/decisions/" + answer.decision }, String(answer.decision)), ", " + age(Date.parse(answer.at) / 1000) + " ago.")].filter(Boolean);
}

function draw() {
  if (!state.total) { main.replaceChildren(el("div.empty", null, "Reading the cluster …")); return; }
  const [, page = "fleet", name, more] = location.hash.split("/");
  for (const a of document.querySelectorAll("nav a")) {
    const mine = a.getAttribute("href") === "#/" + ({ node: "nodes", pool: "fleet", group: "fleet", class: "fleet", zone: "fleet" }[page] || page || "fleet");
    if (mine) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const pages = { fleet: fleetPage, pending: pendingPage, nodes: nodesPage, node: () => nodePage(decodeURIComponent(name || "")), pool: () => poolPage("pool", decodeURIComponent(name || "")), group: () => poolPage("group", decodeURIComponent(name || "")), class: () => classPage(decodeURIComponent(name || ""), decodeURIComponent(more || "")), cost: costPage, decisions: () => decisionsPage(name), whatif: whatIfPage, market: marketPage, zone: () => zonePage(decodeURIComponent(name || "")), events: () => [el("h1", null, "Events"), eventTable(state.notices)] };
  if (page === "whatif" && whatIf.page && main.contains(whatIf.page[0])) { fillIn(); return; }
  const focused = document.activeElement && document.activeElement.id, caret = focused && document.activeElement.type === "search" ? document.activeElement.selectionStart : 0;
  const kept = [...main.querySelectorAll(".scroll")].map(s => s.scrollLeft);
  place(main, (pages[page] || fleetPage)().filter(Boolean));
  forgetTables();
  main.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = kept[i] || 0; });
  if (page === "whatif") fillIn();
  const again = focused && focused !== "main" && main.querySelector("#" + CSS.escape(focused));
  if (again) { again.focus(); if (again.type === "search") again.setSelectionRange(caret, caret); }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme() { document.documentElement.classList.toggle("dark", (remembered.get("tenon-theme") || (dark.matches ? "dark" : "light")) === "dark"); draw(); }
document.getElementById("theme").addEventListener("click", () => { remembered.set("tenon-theme", document.documentElement.classList.contains("dark") ? "light" : "dark"); theme(); });
dark.addEventListener("change", theme);
// On narrow screens the pages' names are scrolled to that of the page.
function scrollNames() {
  const names = document.querySelector("nav"), here = names.querySelector("[aria-current]");
  if (here) names.scrollLeft = here.offsetLeft - names.offsetLeft - (names.clientWidth - here.offsetWidth) / 2;
}
// The address of the page Nodes has its filter, so that it can be passed on.
function readFilter() { if (shows() === "nodes") filter = decodeURIComponent(location.hash.split("/").slice(2).join("/")); }
function readAll() { readDecisions(); readAssessment(); readPast(); readDetails(); readMarket(); readLonger(); }
let shown = shows();
addEventListener("hashchange", () => { tip.hidden = true; readFilter(); draw(); if (shows() !== shown) { scrollTo(0, 0); scrollNames(); } shown = shows(); readAll(); });
setInterval(readAll, 5000);
addEventListener("resize", draw);
document.addEventListener("keydown", e => {
  if (e.target.closest("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
  const page = { 1: "fleet", 2: "pending", 3: "nodes", 4: "cost", 5: "decisions", 6: "whatif", 7: "events", 8: "market" }[e.key];
  if (page) location.hash = "#/" + page;
  if (e.key === "/") { e.preventDefault(); location.hash = "#/nodes"; requestAnimationFrame(() => document.getElementById("filter")?.focus()); }
});
readFilter();
theme();
connect();
readAll();
