/*
 * model - the profile as typed arrays: what each box is and how wide.
 *
 * Nodes are in pre-order, so a subtree is contiguous from i to endOf[i], and every sum over a
 * subtree is one loop. Node 0 is the root. base is the call tree; other views (trees.js) are
 * trees of the same form, and one of them is drawn.
 */
const profile = JSON.parse(document.getElementById("profile").textContent);
const FATHOM = "fathom";
const everything = {
	name: "all", short: "all", labels: ["all"], language: FATHOM, module: null, file: null, line: 0,
	package: "", origin: FATHOM, isOwn: false,
};
const functions = profile.functions.map(([name, language, module, file, line, pack, isOwn]) => {
	/* Module code is named by its file; a system call's object is in its brackets. */
	const short = name === "<module>" && file !== null ? `<module> ${baseName(file)}`
		: profile.languages[language] === "kernel" ? name : shorten(name);
	return {
		name,
		short,
		labels: labelsOf(short),
		language: profile.languages[language],
		module: profile.modules[module],
		file,
		line,
		package: profile.packages[pack]?.[0] ?? "",
		origin: profile.packages[pack]?.[1] ?? FATHOM,
		isOwn: isOwn === 1,
	};
});
const threads = profile.threads.map(([process, pid, name, tid, isIdle], id) => ({
	id,
	pid,
	process,
	label: `${name ?? "thread"} (${tid})`,
	isIdle: isIdle === 1, /* it only waited, in one place */
	ns: 0,
}));
profile.rows.thread.forEach((thread, i) => {
	threads[thread].ns += profile.rows.ns[i];
});

/*
 * A tree of these depths and functions, without values. sideOf is 0; in a sandwich -1 for
 * callers and 1 for callees of the root.
 */
function makeTree(depth, ids) {
	const count = depth.length;
	const tree = {
		count,
		depthOf: Int32Array.from(depth),
		functionOf: Int32Array.from(ids),
		parentOf: new Int32Array(count),
		endOf: new Int32Array(count).fill(count),
		isInlined: new Uint8Array(count),
		sideOf: new Int8Array(count),
		selfOf: new Float64Array(count),
		totalOf: new Float64Array(count),
		leftOf: new Float64Array(count),
		/* Samples including callees'; of a trace, its own calls. */
		countOf: new Float64Array(count),
		root: everything,
	};
	for (let i = 1, open = [0]; i < count; i++) {
		while (open.length > depth[i])
			tree.endOf[open.pop()] = i;
		tree.parentOf[i] = open[open.length - 1];
		open.push(i);
	}
	return tree;
}

const base = makeTree(profile.depth, profile.function);
for (const node of profile.inlined)
	base.isInlined[node] = 1;

/* Of the tree that is drawn. */
let tree, nodeCount, depthOf, functionOf, parentOf, endOf, isInlined, sideOf, selfOf, totalOf, leftOf, countOf;

function useTree(used) {
	tree = used;
	nodeCount = used.count;
	({ depthOf, functionOf, parentOf, endOf, isInlined, sideOf, selfOf, totalOf, leftOf, countOf } = used);
}

function functionAt(node) {
	return node === 0 ? tree.root : functions[functionOf[node]];
}

/*
 * The left edge of each box: after its siblings; both sides of a sandwich begin at the same
 * place.
 */
function placeBoxes(placed) {
	const next = new Float64Array(placed.count);
	for (let i = 1; i < placed.count; i++) {
		const parent = placed.parentOf[i];
		if (parent === 0 && placed.sideOf[i] === 1 && placed.sideOf[i - 1] !== 1)
			next[0] = 0;
		placed.leftOf[i] = next[i] = next[parent];
		next[parent] += placed.totalOf[i];
	}
}

/*
 * Sums in base the time of the threads for which isShown holds, in all or in the slots of span,
 * in the states that isState has as true.
 */
function showThreads(isShown, span, isState) {
	const rows = span ? profile.time_slots : profile.rows;
	const { slot, thread, node, ns, count, state } = rows;
	const isRowShown = (i) => isShown(threads[thread[i]]) && (!state || isState[state[i]]) &&
		(!span || (slot[i] >= span[0] && slot[i] < span[1]));
	base.selfOf.fill(0);
	base.countOf.fill(0);
	for (let i = 0; i < node.length; i++) {
		if (!isRowShown(i))
			continue;
		base.selfOf[node[i]] += ns[i];
		base.countOf[node[i]] += count[i];
	}
	base.totalOf.set(base.selfOf);
	for (let i = base.count - 1; i > 0; i--) {
		base.totalOf[base.parentOf[i]] += base.totalOf[i];
		if (profile.info.counted === "samples")
			base.countOf[base.parentOf[i]] += base.countOf[i];
	}
	if (hasStates())
		sumStateTotals(rows, isRowShown);
	placeBoxes(base);
}

/* Self and total time of each function below node of the call tree; a recursive call counts once. */
function sumFunctions(node) {
	const self = new Float64Array(functions.length);
	const total = new Float64Array(functions.length);
	const openUntil = new Int32Array(functions.length);
	for (let i = Math.max(node, 1); i < base.endOf[node]; i++) {
		const id = base.functionOf[i];
		self[id] += base.selfOf[i];
		if (i >= openUntil[id]) {
			total[id] += base.totalOf[i];
			openUntil[id] = base.endOf[i];
		}
	}
	return { self, total };
}

/* The time below node in functions for which isMatch holds, or in their callees. */
function sumMatches(node, isMatch) {
	let sum = 0;
	for (let i = Math.max(node, 1); i < endOf[node]; ) {
		const found = isMatch[functionOf[i]];
		sum += found ? totalOf[i] : 0;
		i = found ? endOf[i] : i + 1;
	}
	return sum;
}

/* The number of rows below node on a side. */
function deepestBelow(node, side) {
	let deepest = depthOf[node];
	for (let i = node; i < endOf[node]; i++)
		if (totalOf[i] > 0 && depthOf[i] > deepest && sideOf[i] === side)
			deepest = depthOf[i];
	return deepest;
}
