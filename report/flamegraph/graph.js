/* The canvas with the frames: what is visible is laid out, drawn, pointed at and walked through. */
const $ = id => document.getElementById(id);

const state = {
	event: 0, from: 0, until: Infinity, callers: false, icicle: false, by_before: false,
	zoom: 0, focus: 0, hover: -1, search: null,
};

/* Set by recount(): weights of the selection, functions, and the view of the tree. */
let after, before, functions, functions_before, view;

const is_dark = () => document.documentElement.dataset.theme === "dark";

const HUES = [[205, 26], [26, 88], [152, 46], [216, 68], [316, 52], [40, 6]];

function hash(text) {
	let h = 2166136261;

	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h >>> 0) / 4294967296;
}

function kind_colour(kind, variation) {
	const [hue, saturation] = HUES[kind];
	const wander = (variation - .5) * (kind === 1 ? 30 : 22);
	const light = is_dark() ? 33 + variation * 7 : 75 + variation * 8;

	return `hsl(${hue + wander} ${is_dark() ? saturation * .62 : saturation}% ${light}%)`;
}

let colours = new Map();

function share_change(node) {
	const b = before.total[0] ? view.before[node] / before.total[0] : 0;
	const a = after.total[0] ? view.after[node] / after.total[0] : 0;

	return { a, b, change: a - b };
}

function diff_colour(node) {
	const { a, b, change } = share_change(node);
	const strength = a || b ? Math.abs(change) / Math.max(a, b) : 0;
	const hue = change > 0 ? 4 : 216;

	return is_dark() ? `hsl(${hue} ${strength * 62}% ${27 + strength * 17}%)`
		: `hsl(${hue} ${strength * 88}% ${91 - strength * 23}%)`;
}

function colour(node) {
	if (data.diff)
		return diff_colour(node);
	const label = view.label(node), kind = view.kind(node);
	const key = label * 8 + kind;
	let c = colours.get(key);
	if (!c) {
		c = kind_colour(kind, hash(labels[label].name));
		colours.set(key, c);
	}
	return c;
}

/* What widths are made of. */
const weight = node => (state.by_before ? view.before : view.after)[node];

const ROW = 20, NARROWEST = .4;
const canvas = $("graph"), scroller = $("scroller");
let rows = [];

/* Rectangles by row: those from the root to the zoomed node are as wide as all. */
function lay_out() {
	const width = scroller.clientWidth;
	const zoom = state.zoom, whole = weight(zoom);
	const chain = [];

	rows = [];
	for (let node = zoom; ; node = view.parent(node)) {
		chain.unshift(node);
		if (!node)
			break;
	}
	for (const node of chain)
		rows.push([{ node, x: 0, w: width, above: node !== zoom }]);
	if (!whole)
		return;
	const open = [{ node: zoom, x: 0, row: chain.length }];
	while (open.length) {
		const { node, x, row } = open.pop();
		let left = x;

		for (const child of view.children(node)) {
			const w = weight(child) / whole * width;

			if (w >= NARROWEST) {
				(rows[row] ||= []).push({ node: child, x: left, w, above: false });
				open.push({ node: child, x: left, row: row + 1 });
			}
			left += w;
		}
	}
	for (const row of rows)
		row.sort((a, b) => a.x - b.x);
}

const height = () => rows.length * ROW;
const shown_height = () => Math.max(scroller.clientHeight, 40);

/* Where a row is in the whole picture, which may be higher than what is seen of it. */
function row_top(row) {
	const total = Math.max(height(), shown_height());

	return state.icicle ? row * ROW : total - (row + 1) * ROW;
}

function name_of(node) {
	return node ? labels[view.label(node)].name : "all";
}

function is_match(node) {
	return state.search && node && state.search.matches[view.label(node)];
}

function set_up_canvas(c, width, tall) {
	const ratio = window.devicePixelRatio || 1;
	const context = c.getContext("2d");

	if (c.width !== Math.round(width * ratio) || c.height !== Math.round(tall * ratio)) {
		c.width = Math.round(width * ratio);
		c.height = Math.round(tall * ratio);
		c.style.width = width + "px";
		c.style.height = tall + "px";
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, tall);
	return context;
}

let letter = 0;

/* The whole name where it fits, or the short one, or what fits of it. */
function draw_name(g, node, x, y, w, ink) {
	const fits = Math.floor((w - 8) / letter);
	let text = name_of(node);

	if (fits < 2)
		return;
	if (text.length > fits && node)
		text = short_name(view.label(node));
	g.fillStyle = ink;
	g.fillText(text.length <= fits ? text : text.slice(0, fits - 1) + "…", x + 4, y + ROW / 2 + .5);
}

function draw_rect(g, r, y, inks) {
	const w = Math.max(r.w - (r.w > 3 ? 1 : 0), .6), h = ROW - 1;
	const match = is_match(r.node);

	g.globalAlpha = r.above ? .55 : state.search && !match ? .45 : 1;
	g.fillStyle = r.node ? colour(r.node) : inks.root;
	if (match)
		g.fillStyle = inks.hit;
	if (w > 12) {
		g.beginPath();
		g.roundRect(r.x, y, w, h, 3);
		g.fill();
	} else {
		g.fillRect(r.x, y, w, h);
	}
	if (r.w > 20)
		draw_name(g, r.node, r.x, y, w, match ? inks.back : inks.text);
	g.globalAlpha = 1;
	if (r.node === state.hover || (r.node === state.focus && document.activeElement === canvas)) {
		g.strokeStyle = inks.text;
		g.lineWidth = r.node === state.hover ? 1 : 2;
		g.strokeRect(r.x + .5, y + .5, Math.max(w - 1, 1), h - 1);
	}
}

function inks() {
	const style = getComputedStyle(document.documentElement);
	const of = name => style.getPropertyValue(name).trim();

	return { text: of("--text"), back: of("--card"), root: of("--line"), hit: of("--hit"),
		soft: of("--soft"), bars: of("--bars"), select: of("--select"), accent: of("--accent"),
		line: of("--line"), mono: of("--mono"), sans: of("--sans") };
}

function draw() {
	const width = scroller.clientWidth, tall = shown_height();
	const g = set_up_canvas(canvas, width, tall), ink = inks();
	const top = scroller.scrollTop;

	g.font = `12px ${ink.mono}`;
	g.textBaseline = "middle";
	letter = g.measureText("m").width;
	for (let row = 0; row < rows.length; row++) {
		const y = row_top(row) - top;

		if (y + ROW < 0 || y > tall)
			continue;
		for (const r of rows[row])
			draw_rect(g, r, y, ink);
	}
}

/* Lays out anew; @home shows the root again. */
function redraw(home) {
	lay_out();
	$("spacer").style.height = Math.max(height(), shown_height()) + "px";
	if (home)
		scroller.scrollTop = state.icicle ? 0 : Math.max(0, height() - shown_height());
	draw();
	show_path();
}

function rect_at(x, y) {
	const at = y + scroller.scrollTop;
	const total = Math.max(height(), shown_height());
	const row = state.icicle ? Math.floor(at / ROW) : Math.floor((total - at) / ROW);

	return (rows[row] || []).find(r => x >= r.x && x < r.x + Math.max(r.w, 1));
}

const percent = (part, whole) => (whole ? part / whole * 100 : 0).toFixed(part && part < whole / 1000 ? 3 : 1) + "\u202f%";
const count = n => n.toLocaleString("en");

/* One sentence on a node, for the status line and who listens to it. */
function describe(node) {
	const name = name_of(node), dso = node ? labels[view.label(node)].dso : "";
	const total = after.total[0];
	const parts = [node ? `${name}${dso ? ` (${dso})` : ""}` : "all"];

	parts.push(`${count(view.after[node])} samples, ${percent(view.after[node], total)}`);
	if (data.diff) {
		const { b, change } = share_change(node);

		parts.push(`before ${percent(b, 1)}, ${change < 0 ? "shrank" : "grew"} by ${percent(Math.abs(change), 1)}`);
	} else if (view.self[node]) {
		parts.push(`${percent(view.self[node], total)} in itself`);
	}
	return parts.join(": ").replace(": before", ", before");
}

function show_status(node) {
	$("status").textContent = describe(node);
}

function show_path() {
	const nav = $("path"), nodes = [];

	for (let node = state.zoom; node; node = view.parent(node))
		nodes.unshift(node);
	nav.replaceChildren();
	for (const node of [0, ...nodes.slice(-4)]) {
		const step = document.createElement("button");

		step.type = "button";
		step.textContent = node ? name_of(node) : "all";
		step.addEventListener("click", () => zoom_to(node));
		if (nav.children.length)
			nav.append(Object.assign(document.createElement("span"), { textContent: "›" }));
		nav.append(step);
	}
	$("reset").disabled = !state.zoom;
}

function zoom_to(node) {
	state.zoom = node;
	state.focus = node;
	redraw(true);
	show_status(node);
}

/* The keys: up is up on the screen, so towards the callees in a flame and callers in an icicle. */
function walk(key) {
	const outward = (key === "ArrowUp") !== state.icicle;
	const node = state.focus;

	if (key === "ArrowUp" || key === "ArrowDown") {
		if (!outward)
			return view.parent(node);
		const wide = view.children(node).filter(weight);
		return wide.length ? wide.reduce((a, b) => weight(b) > weight(a) ? b : a) : node;
	}
	const row = rows.find(rects => rects.some(r => r.node === node)) || [];
	const at = row.findIndex(r => r.node === node) + (key === "ArrowLeft" ? -1 : 1);
	return row[at] ? row[at].node : node;
}

function focus_on(node) {
	const row = view.depth(node);
	const y = row_top(row);

	state.focus = node;
	if (!rows[row] || !rows[row].some(r => r.node === node))
		return zoom_to(view.parent(node) || 0), state.focus = node, draw(), show_status(node);
	if (y < scroller.scrollTop)
		scroller.scrollTop = y;
	else if (y + ROW > scroller.scrollTop + shown_height())
		scroller.scrollTop = y + ROW - shown_height();
	draw();
	show_status(node);
}

function show_tip(event, node) {
	const tip = $("tip");

	tip.replaceChildren();
	if (node >= 0) {
		const [first, ...rest] = describe(node).split(": ");
		const add = (tag, text) => text && tip.append(Object.assign(document.createElement(tag), { textContent: text }));

		add("b", name_of(node));
		add("span", node ? labels[view.label(node)].dso : "");
		add("span", describe(node).slice(first.length + (rest.length ? 2 : 0)));
		if (node && !data.diff)
			add("span", KINDS[view.kind(node)]);
	}
	tip.hidden = node < 0;
	tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
	tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight
		? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
}

canvas.addEventListener("pointermove", event => {
	const r = rect_at(event.offsetX, event.offsetY);

	state.hover = r ? r.node : -1;
	show_tip(event, state.hover);
	draw();
});
canvas.addEventListener("pointerleave", event => {
	state.hover = -1;
	show_tip(event, -1);
	draw();
});
canvas.addEventListener("click", event => {
	const r = rect_at(event.offsetX, event.offsetY);

	if (r)
		zoom_to(r.node);
});
canvas.addEventListener("keydown", event => {
	if (event.key.startsWith("Arrow"))
		focus_on(walk(event.key));
	else if (event.key === "Enter" || event.key === " ")
		zoom_to(state.focus);
	else if (event.key === "Escape" || event.key === "Backspace")
		zoom_to(view.parent(state.zoom));
	else if (event.key === "Home")
		zoom_to(0);
	else
		return;
	event.preventDefault();
});
canvas.addEventListener("focus", () => { draw(); show_status(state.focus); });
canvas.addEventListener("blur", draw);
scroller.addEventListener("scroll", draw);
