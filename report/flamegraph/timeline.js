/* CPU over time: samples by slice, with a range that can be dragged. */
const timeline = $("timeline");
const time = data.time;
const MARGIN = 8, AXIS = 18;

function slice_counts() {
	const counts = data.events[state.event].after;
	const bars = new Float64Array(time ? time.slices : 0);

	for (let i = 0; i < counts.node.length; i++)
		bars[counts.slice[i]] += counts.samples[i];
	return bars;
}

function clock_text(slice, digits) {
	const ms = slice * time.slice_ms;

	if (time.wall_ms === null)
		return (ms / 1000).toFixed(digits) + "\u202fs";
	const date = new Date(time.wall_ms + ms);
	const two = n => String(n).padStart(2, "0");
	const seconds = (date.getSeconds() + (time.wall_ms + ms) % 1000 / 1000).toFixed(digits);
	return `${two(date.getHours())}:${two(date.getMinutes())}:${seconds.padStart(digits ? digits + 3 : 2, "0")}`;
}

/* A step between labels that a person counts in, at least @least ms. */
function nice_step(least) {
	const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5,
		6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];

	return steps.find(s => s >= least) || Math.ceil(least / 864e5) * 864e5;
}

function draw_axis(g, width, tall, ink) {
	const per_ms = (width - 2 * MARGIN) / (time.slices * time.slice_ms);
	const step = nice_step(95 / per_ms);
	const start = time.wall_ms === null ? 0 : time.wall_ms;
	const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;

	g.fillStyle = ink.soft;
	g.font = `11px ${ink.sans}`;
	g.textBaseline = "bottom";
	for (let t = Math.ceil(start / step) * step - start; t * per_ms < width - 60; t += step) {
		const x = Math.round(MARGIN + t * per_ms);

		g.globalAlpha = .35;
		g.fillRect(x, tall - AXIS, 1, 5);
		g.globalAlpha = 1;
		g.fillText(clock_text(t / time.slice_ms, digits), x + 4, tall - 1);
	}
}

function draw_timeline() {
	if (!time || data.diff)
		return;
	const width = timeline.parentElement.clientWidth - 24, tall = 84;
	const g = set_up_canvas(timeline, width, tall), ink = inks();
	const bars = slice_counts();
	const wide = (width - 2 * MARGIN) / time.slices, floor = tall - AXIS;
	/* Neighbours are summed, to bars wide enough to be seen, and of more than a few samples each
	 * where that leaves enough bars. */
	const all = bars.reduce((a, b) => a + b, 0);
	const join = Math.max(1, Math.ceil(time.slices / Math.min(width / 4, Math.max(60, all / 8))));
	const sums = [];

	for (let i = 0; i < bars.length; i += join)
		sums.push(bars.subarray(i, i + join).reduce((a, b) => a + b, 0));
	const most = Math.max(1, ...sums);
	g.fillStyle = ink.line;
	g.fillRect(MARGIN, floor, width - 2 * MARGIN, 1);
	const selected = state.until !== Infinity;
	for (let i = 0; i < sums.length; i++) {
		const h = sums[i] / most * (floor - 14);
		const inside = i * join < state.until && (i + 1) * join > state.from;

		g.fillStyle = ink.bars;
		g.globalAlpha = selected && !inside ? .35 : 1;
		const x = i * join * wide, w = Math.min(join * wide, time.slices * wide - x);
		g.fillRect(MARGIN + x, floor - h, Math.max(w - (w > 3 ? 1 : 0), .8), h);
	}
	g.globalAlpha = 1;
	if (selected) {
		const x = MARGIN + state.from * wide, w = (state.until - state.from) * wide;

		g.fillStyle = ink.select;
		g.fillRect(x, 0, w, floor);
		g.fillStyle = ink.accent;
		g.fillRect(x, 0, 1.5, floor);
		g.fillRect(x + w - 1.5, 0, 1.5, floor);
	}
	draw_axis(g, width, tall, ink);
	g.fillStyle = ink.soft;
	g.textBaseline = "top";
	g.textAlign = "right";
	g.fillText(`${count(most)} samples in ${duration(join * time.slice_ms)}`, width - MARGIN, 0);
	g.textAlign = "left";
}

function duration(ms) {
	return ms < 1000 ? `${+ms.toPrecision(3)}\u202fms` : ms < 12e4 ? `${+(ms / 1000).toPrecision(3)}\u202fs`
		: ms < 72e5 ? `${+(ms / 6e4).toPrecision(3)}\u202fmin` : `${+(ms / 36e5).toPrecision(3)}\u202fh`;
}

function show_range() {
	const selected = state.until !== Infinity;

	$("range-clear").hidden = !selected;
	$("range-text").textContent = selected
		? `${clock_text(state.from, 3)} to ${clock_text(state.until, 3)}, ${duration((state.until - state.from) * time.slice_ms)}: ${count(after.total[0])} samples`
		: "Drag over the timeline to see a part of it";
	timeline.setAttribute("aria-label", `CPU over time. ${selected ? $("range-text").textContent : "All of it"}`);
}

function select_range(from, until) {
	state.from = from;
	state.until = until;
	recount();
}

function slice_at(event) {
	const wide = (timeline.clientWidth - 2 * MARGIN) / time.slices;
	const x = event.clientX - timeline.getBoundingClientRect().left;

	return Math.max(0, Math.min(time.slices, (x - MARGIN) / wide));
}

let drag_from = null, drag_x = 0;

timeline.addEventListener("pointerdown", event => {
	drag_from = slice_at(event);
	drag_x = event.clientX;
	timeline.setPointerCapture(event.pointerId);
});
timeline.addEventListener("pointermove", event => {
	if (drag_from === null || Math.abs(event.clientX - drag_x) < 3)
		return;
	const at = slice_at(event);

	state.from = Math.floor(Math.min(drag_from, at));
	state.until = Math.max(state.from + 1, Math.ceil(Math.max(drag_from, at)));
	draw_timeline();
});
timeline.addEventListener("pointerup", event => {
	if (drag_from === null)
		return;
	const moved = Math.abs(event.clientX - drag_x) >= 3;

	drag_from = null;
	if (moved)
		select_range(state.from, state.until);
	else
		select_range(0, Infinity);
});
timeline.addEventListener("pointercancel", () => { drag_from = null; });
timeline.addEventListener("keydown", event => {
	const step = Math.max(1, Math.round(time.slices / 50));
	const way = { ArrowLeft: -step, ArrowRight: step }[event.key];
	let { from, until } = state;

	if (event.key === "Escape") {
		select_range(0, Infinity);
	} else if (way) {
		if (until === Infinity)
			[from, until] = [0, step];
		else if (event.shiftKey)
			until = Math.max(from + 1, Math.min(time.slices, until + way));
		else if (from + way >= 0 && until + way <= time.slices)
			[from, until] = [from + way, until + way];
		select_range(from, until);
	} else {
		return;
	}
	event.preventDefault();
});
$("range-clear").addEventListener("click", () => select_range(0, Infinity));
