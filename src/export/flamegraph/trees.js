/*
 * trees - other trees of the same stacks: from the functions with most self time outwards, and
 * the callers and callees of one function.
 *
 * Branches too narrow to be seen are not followed, so a tree takes as long as one pass over the
 * call tree, however large that is.
 */
const NARROWEST_SHARE = 1 / 20000;

/*
 * Adds to out what is below the heaps: each heap is the nodes of the call tree for one
 * function, and the heaviest comes first. expand(node, add) calls add(next, weight) for the
 * nodes after a node.
 */
function growTree(out, heaps, side, expand, least) {
	const open = heaps.reverse().map((heap) => ({ heap, depth: 1 }));
	while (open.length > 0) {
		const { heap, depth } = open.pop();
		out.depth.push(depth);
		out.ids.push(heap.id);
		out.total.push(heap.total);
		out.side.push(side);
		const at = out.self.push(heap.total) - 1;
		if (heap.total < least)
			continue;
		const found = groupNodes((add) => {
			heap.nodes.forEach((node, i) => expand(node, heap.weights[i], add));
		});
		for (const next of found)
			out.self[at] -= next.total;
		for (const next of found.reverse())
			open.push({ heap: next, depth: depth + 1 });
	}
}

/*
 * Groups the nodes that give(add) adds by function: [{ id, nodes, weights, total }], the
 * heaviest first.
 */
function groupNodes(give) {
	const heaps = new Map();
	give((node, weight) => {
		const id = base.functionOf[node];
		let heap = heaps.get(id);
		if (!heap)
			heaps.set(id, (heap = { id, nodes: [], weights: [], total: 0 }));
		heap.nodes.push(node);
		heap.weights.push(weight);
		heap.total += weight;
	});
	return [...heaps.values()].sort((a, b) => b.total - a.total || a.id - b.id);
}

function toCaller(node, weight, add) {
	if (base.parentOf[node] !== 0)
		add(base.parentOf[node], weight);
}

function toCallees(node, weight, add) {
	for (let i = node + 1; i < base.endOf[node]; i = base.endOf[i])
		if (base.totalOf[i] > 0)
			add(i, base.totalOf[i]);
}

function finishTree(out, root) {
	const made = makeTree(out.depth, out.ids);
	made.totalOf.set(out.total);
	made.selfOf.set(out.self);
	made.sideOf.set(out.side);
	made.root = root;
	placeBoxes(made);
	return made;
}

function beginTree(total, self) {
	return { depth: [0], ids: [0], total: [total], self: [self], side: [0] };
}

/* The functions with self time, and above them their callers. */
function invertedTree() {
	const total = base.totalOf[0];
	const out = beginTree(total, 0);
	const leaves = groupNodes((add) => {
		for (let i = 1; i < base.count; i++)
			if (base.selfOf[i] > 0)
				add(i, base.selfOf[i]);
	});
	growTree(out, leaves, 0, toCaller, total * NARROWEST_SHARE);
	return finishTree(out, everything);
}

/* The callers and callees of a function; of a recursive one, from its outermost call. */
function sandwichTree(id) {
	const calls = [];
	let total = 0;
	let self = 0;
	for (let i = 1; i < base.count; i++)
		self += base.functionOf[i] === id ? base.selfOf[i] : 0;
	for (let i = 1; i < base.count; ) {
		const isCall = base.functionOf[i] === id;
		if (isCall && base.totalOf[i] > 0)
			calls.push(i);
		total += isCall ? base.totalOf[i] : 0;
		i = isCall ? base.endOf[i] : i + 1;
	}
	const out = beginTree(total, self);
	out.ids[0] = id;
	for (const [side, expand] of [[-1, toCaller], [1, toCallees]])
		growTree(out, groupNodes((add) => {
			for (const node of calls)
				expand(node, base.totalOf[node], add);
		}), side, expand, total * NARROWEST_SHARE);
	return finishTree(out, functions[id]);
}

/* The function with the most self time. */
function hottestFunction() {
	const { self } = sumFunctions(0);
	let hottest = 0;
	self.forEach((ns, id) => {
		if (ns > self[hottest] && functions[id].language !== FATHOM)
			hottest = id;
	});
	return hottest;
}
