/*
 * The data of the page, and what is counted from it. It comes as one JSON object; long arrays in it
 * are base64 of unsigned LEB128 numbers. Its layout is drawn in report/flamegraph.c.
 */
const data = JSON.parse(document.getElementById("data").textContent);

/* Kinds of frames, by their number in the data. */
const KINDS = ["thread", "user", "inlined", "kernel", "JIT", "unknown"];

class Numbers {
	constructor(base64) {
		const text = atob(base64);

		this.bytes = Uint8Array.from(text, c => c.charCodeAt(0));
		this.at = 0;
	}
	get more() {
		return this.at < this.bytes.length;
	}
	next() {
		let value = 0, scale = 1, byte;

		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	}
}

/* The tree: nodes in the order of a walk, so that a subtree is [node, end[node]). 0 is the root. */
const tree = (() => {
	const n = data.nr_nodes;
	const t = {
		n, parent: new Int32Array(n), label: new Int32Array(n), kind: new Uint8Array(n),
		depth: new Int32Array(n), end: new Int32Array(n),
	};
	const numbers = new Numbers(data.nodes);
	const path = [0];

	t.label[0] = -1;
	for (let i = 1; i < n; i++) {
		const depth = t.depth[i - 1] + 1 - numbers.next();
		const word = numbers.next();

		t.depth[i] = depth;
		t.parent[i] = path[depth - 1];
		t.label[i] = Math.floor(word / 8);
		t.kind[i] = word % 8;
		path[depth] = i;
	}
	for (let i = n - 1; i >= 0; i--) {
		t.end[i] = Math.max(t.end[i], i + 1);
		if (i)
			t.end[t.parent[i]] = Math.max(t.end[t.parent[i]], t.end[i]);
	}
	return t;
})();

const labels = (() => {
	const dsos = new Numbers(data.label_dsos);

	return data.names.map(name => ({ name, dso: data.dsos[dsos.next()] }));
})();

/* Names without what C++ and Rust have in brackets and before them, and not too long. */
const short_names = new Array(labels.length);

function short_name(label) {
	if (short_names[label])
		return short_names[label];
	const name = labels[label].name;
	let bare = name;
	for (let last = ""; last !== bare;)
		[last, bare] = [bare, bare.replace(/<[^<>]*>|\([^()]*\)( const)?/g, "")];
	bare = (bare.trim() || name).replace(/^.* (?=[\w:~]+$)/, "");
	return short_names[label] = bare.length > 48 ? bare.slice(0, 47) + "…" : bare;
}

/* Kind of each function, for the table: that of the first node. */
const label_kind = new Uint8Array(labels.length);
for (let i = tree.n - 1; i > 0; i--)
	label_kind[tree.label[i]] = tree.kind[i];

/* Samples by node and slice of time, as three arrays. */
function decode_counts(base64) {
	const numbers = new Numbers(base64);
	const counts = { node: [], slice: [], samples: [] };
	let node = 0;

	while (numbers.more) {
		let slice = 0;

		node += numbers.next();
		for (let left = numbers.next(); left; left--) {
			slice += numbers.next();
			counts.node.push(node);
			counts.slice.push(slice);
			counts.samples.push(numbers.next());
		}
	}
	return counts;
}

for (const event of data.events) {
	event.after = decode_counts(event.after);
	event.before = decode_counts(event.before);
}

/* Self and total samples of each node, of the slices [from, until). */
function weigh(counts, from, until) {
	const self = new Float64Array(tree.n);

	for (let i = 0; i < counts.node.length; i++)
		if (counts.slice[i] >= from && counts.slice[i] < until)
			self[counts.node[i]] += counts.samples[i];
	const total = self.slice();
	for (let i = tree.n - 1; i > 0; i--)
		total[tree.parent[i]] += total[i];
	return { self, total };
}

/* Self and total samples of each function; a function within itself counts once. */
function by_label(weights) {
	const self = new Float64Array(labels.length), total = new Float64Array(labels.length);
	const within = new Int32Array(labels.length);
	const path = [];

	for (let i = 1; i < tree.n; i++) {
		while (path.length && tree.end[path[path.length - 1]] <= i)
			within[tree.label[path.pop()]]--;
		const label = tree.label[i];
		self[label] += weights.self[i];
		if (!within[label]++)
			total[label] += weights.total[i];
		path.push(i);
	}
	return { self, total };
}

/* Samples with a matching function anywhere in their stack. */
function matched_samples(weights, matches) {
	let sum = 0;

	for (let i = 1; i < tree.n;)
		if (matches[tree.label[i]]) {
			sum += weights.total[i];
			i = tree.end[i];
		} else {
			i++;
		}
	return sum;
}

/* The tree as it is: callers below, callees above. A view answers by node number. */
class Callees {
	constructor(after, before) {
		this.after = after.total;
		this.before = before && before.total;
		this.self = after.self;
	}
	label(node) { return tree.label[node]; }
	kind(node) { return tree.kind[node]; }
	parent(node) { return tree.parent[node]; }
	depth(node) { return tree.depth[node]; }
	children(node) {
		const list = [];

		for (let i = node + 1; i < tree.end[node]; i = tree.end[i])
			list.push(i);
		return list;
	}
}

/*
 * The tree from where samples were to their callers. Made where somebody looks only: all of it is
 * as large as all stacks together. A node keeps the nodes of the tree whose own samples are in it,
 * and how far up each one has come.
 */
class Callers {
	constructor(after, before) {
		const source = [];

		for (let i = 1; i < tree.n; i++)
			if (after.self[i] || (before && before.self[i]))
				source.push(i);
		this.weights = [after.self, before && before.self];
		this.after = [after.total[0]];
		this.before = before && [before.total[0]];
		this.self = [0];
		this.nodes = [{ label: -1, kind: 0, parent: 0, depth: 0, source, at: null, children: null }];
	}
	label(node) { return this.nodes[node].label; }
	kind(node) { return this.nodes[node].kind; }
	parent(node) { return this.nodes[node].parent; }
	depth(node) { return this.nodes[node].depth; }
	children(node) {
		const n = this.nodes[node];

		if (n.children)
			return n.children;
		const found = new Map();
		for (let i = 0; i < n.source.length; i++) {
			const source = n.source[i];
			const at = n.at ? tree.parent[n.at[i]] : source;

			if (at)
				this.count(this.child(node, at, found), source, at);
		}
		n.children = [...found.values()].sort((a, b) => this.after[b] - this.after[a]);
		return n.children;
	}
	child(node, at, found) {
		const label = tree.label[at];
		let child = found.get(label);

		if (child === undefined) {
			child = this.nodes.length;
			found.set(label, child);
			this.nodes.push({
				label, kind: tree.kind[at], parent: node,
				depth: this.nodes[node].depth + 1, source: [], at: [], children: null,
			});
			this.after.push(0);
			this.self.push(0);
			if (this.before)
				this.before.push(0);
		}
		return child;
	}
	count(child, source, at) {
		this.nodes[child].source.push(source);
		this.nodes[child].at.push(at);
		this.after[child] += this.weights[0][source];
		if (source === at)
			this.self[child] += this.weights[0][source];
		if (this.before)
			this.before[child] += this.weights[1][source];
	}
}
