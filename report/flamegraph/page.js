/* Puts it together: buttons, theme, and what follows from a change of what is counted. */
function summary_text() {
	const total = after.total[0], parts = [];
	const event = data.events[state.event];
	const top = labels.map((l, i) => i).filter(i => label_kind[i] && functions.self[i])
		.sort((a, b) => functions.self[b] - functions.self[a]).slice(0, 3);

	if (data.diff)
		parts.push(`${count(before.total[0])} samples before, ${count(total)} after, of ${event.name}; widths and changes are shares of each.`);
	else
		parts.push(`${count(total)} samples of ${event.name}${time ? ` over ${duration((state.until === Infinity ? time.span_ms : (state.until - state.from) * time.slice_ms))}` : ""}.`);
	if (top.length)
		parts.push("Most in " + top.map(i => `${short_name(i)} (${percent(functions.self[i], total)})`).join(", ") + ".");
	return parts.join(" ");
}

function make_view() {
	view = new (state.callers ? Callers : Callees)(after, before);
}

/* Counts what is selected, and shows it. Zooms stay where their node still has samples. */
function recount() {
	const event = data.events[state.event];

	after = weigh(event.after, state.from, state.until);
	functions = by_label(after);
	if (data.diff) {
		before = weigh(event.before, 0, Infinity);
		functions_before = by_label(before);
	}
	make_view();
	if (state.callers || !weight(state.zoom))
		state.zoom = state.focus = 0;
	$("summary").textContent = summary_text();
	redraw(true);
	show_table();
	show_matched();
	show_status(state.zoom);
	if (time && !data.diff) {
		show_range();
		draw_timeline();
	}
}

function show_legend() {
	const list = $("legend"), used = new Set();
	const add = (text, background) => {
		const item = document.createElement("li"), box = document.createElement("i");

		box.style.background = background;
		item.append(box, text);
		list.append(item);
	};

	list.replaceChildren();
	if (data.diff) {
		add("grew", is_dark() ? "hsl(4 62% 44%)" : "hsl(4 88% 68%)");
		add("shrank", is_dark() ? "hsl(216 62% 44%)" : "hsl(216 88% 68%)");
		return;
	}
	for (let i = 1; i < tree.n; i++)
		used.add(tree.kind[i]);
	KINDS.forEach((kind, i) => used.has(i) && add(kind, kind_colour(i, .5)));
}

function set_theme(dark, keep) {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	$("theme").textContent = dark ? "Light" : "Dark";
	colours = new Map();
	show_legend();
	if (keep)
		try {
			localStorage.setItem("pevrec-theme", dark ? "dark" : "light");
		} catch (error) {
			/* A page from a file may have no storage: then the choice is for now only. */
		}
	if (view) {
		draw();
		draw_timeline();
	}
}

function stored_theme() {
	try {
		return localStorage.getItem("pevrec-theme");
	} catch (error) {
		return null;
	}
}

function toggle(id, field) {
	state[field] = !state[field];
	$(id).setAttribute("aria-pressed", state[field]);
}

const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
dark_wanted.addEventListener("change", () => stored_theme() || set_theme(dark_wanted.matches));

$("theme").addEventListener("click", () => set_theme(!is_dark(), true));
$("reset").addEventListener("click", () => zoom_to(0));
$("invert").addEventListener("click", () => {
	toggle("invert", "callers");
	make_view();
	zoom_to(0);
});
$("flip").addEventListener("click", () => {
	toggle("flip", "icicle");
	redraw(true);
});
$("event").addEventListener("change", () => {
	state.event = $("event").selectedIndex;
	recount();
});
$("width").addEventListener("change", () => {
	state.by_before = $("width").value === "before";
	zoom_to(0);
});
document.addEventListener("keydown", event => {
	const keys = { "/": "search", i: "invert", f: "flip", t: "theme", 0: "reset" };
	const id = keys[event.key];

	if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) {
		if (event.key === "Escape" && event.target === $("search")) {
			$("search").value = "";
			search();
		}
		return;
	}
	if (!id)
		return;
	event.preventDefault();
	if (id === "search")
		$(id).focus();
	else
		$(id).click();
});
new ResizeObserver(() => { redraw(false); draw_timeline(); }).observe(scroller);

document.title = $("title").textContent = data.title;
$("notes").textContent = data.notes.join(" ");
for (const event of data.events)
	$("event").append(new Option(event.name));
$("event-box").hidden = data.events.length < 2;
$("width-box").hidden = !data.diff;
$("timeline-box").hidden = !time || data.diff;
if (stored_theme() === "dark" || (!stored_theme() && dark_wanted.matches))
	set_theme(true);
else
	set_theme(false);
recount();

/* For scripts that look at the page from outside: where frames are, in pixels of the canvas. */
window.pevrec = {
	frames: () => rows.flatMap((row, i) => row.map(r => ({
		name: name_of(r.node), x: r.x, width: r.w, y: row_top(i) - scroller.scrollTop, height: ROW,
		samples: view.after[r.node] }))),
};
