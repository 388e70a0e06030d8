/* The functions as a table: the same numbers for who does not see the picture. */
const COLUMNS = data.diff ? [
	["change", "Change", (f, i) => f.change[i]],
	["before", "Before", (f, i) => f.b[i]],
	["after", "After", (f, i) => f.a[i]],
	["name", "Function", (f, i) => labels[i].name],
] : [
	["self", "Self", (f, i) => f.self[i]],
	["total", "Total", (f, i) => f.total[i]],
	["name", "Function", (f, i) => labels[i].name],
];
const PAGE = 200;
const sorting = { column: 0, down: true, shown: PAGE };

/* The numbers of all functions, by the columns of the table. */
function table_numbers() {
	if (!data.diff)
		return functions;
	const share = (v, w) => v.map(n => w ? n / w : 0);
	const a = share(functions.self, after.total[0]), b = share(functions_before.self, before.total[0]);

	return { a, b, change: a.map((v, i) => v - b[i]) };
}

function sorted_labels(numbers) {
	const value = COLUMNS[sorting.column][2];
	const rank = data.diff && sorting.column === 0 ? v => Math.abs(v) : v => v;
	const there = i => functions.total[i] || (functions_before && functions_before.total[i]);
	const list = [];

	for (let i = 0; i < labels.length; i++)
		if (there(i) && label_kind[i] && (!state.search || state.search.matches[i]))
			list.push(i);
	list.sort((x, y) => {
		const a = rank(value(numbers, x)), b = rank(value(numbers, y));

		return (a < b ? -1 : a > b ? 1 : 0) * (sorting.down ? -1 : 1);
	});
	return list;
}

function change_text(change) {
	return (change > 0 ? "+" : change < 0 ? "−" : "") + percent(Math.abs(change), 1);
}

function table_row(numbers, label) {
	const row = document.createElement("tr");
	const cell = (text, style) => {
		const td = document.createElement("td");

		td.textContent = text;
		if (style)
			td.className = style;
		row.append(td);
	};

	if (data.diff) {
		const change = numbers.change[label];

		cell(change_text(change), change > 0 ? "grew" : change < 0 ? "shrank" : "");
		cell(percent(numbers.b[label], 1));
		cell(percent(numbers.a[label], 1));
	} else {
		cell(percent(numbers.self[label], after.total[0]));
		cell(percent(numbers.total[label], after.total[0]));
	}
	const td = document.createElement("td"), button = document.createElement("button");
	const dso = document.createElement("small");

	button.type = "button";
	button.textContent = td.title = labels[label].name;
	button.addEventListener("click", () => search_exactly(labels[label].name));
	dso.textContent = labels[label].dso;
	td.append(button, dso);
	row.append(td);
	return row;
}

function show_table() {
	const numbers = table_numbers();
	const list = sorted_labels(numbers);

	document.querySelectorAll("th").forEach((th, i) => th.setAttribute("aria-sort",
		i !== sorting.column ? "none" : sorting.down ? "descending" : "ascending"));
	document.querySelector("tbody").replaceChildren(
		...list.slice(0, sorting.shown).map(label => table_row(numbers, label)));
	$("more").hidden = list.length <= sorting.shown;
	$("more").textContent = `Show more (${count(list.length - sorting.shown)} left)`;
}

COLUMNS.forEach(([key, title], i) => {
	const th = document.createElement("th"), button = document.createElement("button");

	th.scope = "col";
	button.type = "button";
	button.dataset.key = key;
	button.textContent = title;
	button.addEventListener("click", () => {
		sorting.down = sorting.column === i ? !sorting.down : key !== "name";
		sorting.column = i;
		sorting.shown = PAGE;
		show_table();
	});
	th.append(button);
	document.querySelector("thead tr").append(th);
});
$("more").addEventListener("click", () => { sorting.shown += 5 * PAGE; show_table(); });

function search_exactly(name) {
	$("search").value = "^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";
	search();
}

function search() {
	const text = $("search").value;
	let pattern = null;

	$("search").removeAttribute("aria-invalid");
	state.search = null;
	if (text) {
		try {
			pattern = new RegExp(text, text === text.toLowerCase() ? "i" : "");
		} catch (error) {
			$("search").setAttribute("aria-invalid", "true");
			$("matched").textContent = "no regular expression";
			return;
		}
		state.search = { matches: labels.map(l => pattern.test(l.name)) };
	}
	sorting.shown = PAGE;
	show_matched();
	show_table();
	draw();
}

function show_matched() {
	$("matched").textContent = state.search
		? percent(matched_samples(after, state.search.matches), after.total[0]) + " matched" : "";
}
$("search").addEventListener("input", search);
