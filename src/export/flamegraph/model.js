/*
 * model - the profile as typed arrays: what each box is and how wide.
 *
 * Nodes stand in pre-order, so a subtree is the run from i to endOf[i], and every
 * sum over a subtree is one loop.  Node 0 stands for everything.
 */
const profile = JSON.parse(document.getElementById("profile").textContent);
const nodeCount = profile.depth.length;
const depthOf = Int32Array.from(profile.depth);
const functionOf = Int32Array.from(profile.function);
const parentOf = new Int32Array(nodeCount);
const endOf = new Int32Array(nodeCount).fill(nodeCount);
const isInlined = new Uint8Array(nodeCount);

/* For the threads being shown, in ns; leftOf is where a box begins. */
const selfOf = new Float64Array(nodeCount);
const totalOf = new Float64Array(nodeCount);
const leftOf = new Float64Array(nodeCount);
/* Samples with those of what it called; of a trace, its own calls. */
const countOf = new Float64Array(nodeCount);

for (let i = 1, open = [0]; i < nodeCount; i++) {
	while (open.length > depthOf[i])
		endOf[open.pop()] = i;
	parentOf[i] = open[open.length - 1];
	open.push(i);
}
for (const node of profile.inlined)
	isInlined[node] = 1;

const LONG_NAME = 40; /* characters */
/* What begins like brackets and is none. */
const NO_BRACKETS = /(?:operator\s*(?:<=>|<<=|<<|<=|<|>>=|>>|>=|>|->\*|->|\(\))|->|\(anonymous namespace\))/y;

/*
 * A long C++ or Rust name with an ellipsis for what stands between its brackets:
 * "std::map<…>::operator[](…)".  A name whose brackets do not match stays as it is.
 */
function shorten(name) {
	const open = [];
	let short = "";
	if (name.length <= LONG_NAME)
		return name;
	for (let i = 0; i < name.length; ) {
		NO_BRACKETS.lastIndex = i;
		const part = NO_BRACKETS.exec(name)?.[0] ?? name[i];
		i += part.length;
		if (part === ">" || part === ")") {
			const begin = open.pop();
			if (begin === undefined || name[begin] !== (part === ">" ? "<" : "("))
				return name;
			if (open.length === 0)
				short += begin + 2 === i ? part : `…${part}`;
		} else {
			if (open.length === 0)
				short += part;
			if (part === "<" || part === "(")
				open.push(i - 1);
		}
	}
	return open.length === 0 ? short : name;
}

const FATHOM = "fathom";
const everything = { name: "all", short: "all", language: FATHOM, module: null, file: null, line: 0 };
const functions = profile.functions.map(([name, language, module, file, line]) => ({
	name,
	short: shorten(name),
	language: profile.languages[language],
	module: profile.modules[module],
	file,
	line,
}));
const threads = profile.threads.map(([process, pid, name, tid], id) => ({
	id,
	pid,
	process,
	label: `${name ?? "thread"} (${tid})`,
	ns: 0,
}));
profile.rows.thread.forEach((thread, i) => {
	threads[thread].ns += profile.rows.ns[i];
});

function functionAt(node) {
	return node === 0 ? everything : functions[functionOf[node]];
}

/* Sums what the threads for which isShown holds spent. */
function showThreads(isShown) {
	const { thread, node, ns, count } = profile.rows;
	selfOf.fill(0);
	countOf.fill(0);
	for (let i = 0; i < node.length; i++) {
		if (!isShown(threads[thread[i]]))
			continue;
		selfOf[node[i]] += ns[i];
		countOf[node[i]] += count[i];
	}
	totalOf.set(selfOf);
	for (let i = nodeCount - 1; i > 0; i--) {
		totalOf[parentOf[i]] += totalOf[i];
		if (profile.info.counted === "samples")
			countOf[parentOf[i]] += countOf[i];
	}
	const next = new Float64Array(nodeCount);
	for (let i = 1; i < nodeCount; i++) {
		leftOf[i] = next[i] = next[parentOf[i]];
		next[parentOf[i]] += totalOf[i];
	}
}

/* Self and total time of each function below node; a recursive call counts once. */
function sumFunctions(node) {
	const self = new Float64Array(functions.length);
	const total = new Float64Array(functions.length);
	const openUntil = new Int32Array(functions.length);
	for (let i = Math.max(node, 1); i < endOf[node]; i++) {
		const id = functionOf[i];
		self[id] += selfOf[i];
		if (i >= openUntil[id]) {
			total[id] += totalOf[i];
			openUntil[id] = endOf[i];
		}
	}
	return { self, total };
}

/* The time below node spent in or under functions for which isMatch holds. */
function sumMatches(node, isMatch) {
	let sum = 0;
	for (let i = Math.max(node, 1); i < endOf[node]; ) {
		const found = isMatch[functionOf[i]];
		sum += found ? totalOf[i] : 0;
		i = found ? endOf[i] : i + 1;
	}
	return sum;
}

function deepestBelow(node) {
	let deepest = depthOf[node];
	for (let i = node; i < endOf[node]; i++)
		if (totalOf[i] > 0 && depthOf[i] > deepest)
			deepest = depthOf[i];
	return deepest;
}

/* A predicate on functions for what stands in the search field; null: matches nothing. */
function parseQuery(query) {
	const field = /^(module|file|language):(.+)$/s.exec(query);
	const exact = /^"(.*)"$/s.exec(query);
	const regex = /^\/(.+)\/$/s.exec(query);
	if (field) {
		const part = field[2].toLowerCase();
		return (f) => (f[field[1]] ?? "").toLowerCase().includes(part);
	}
	if (exact)
		return (f) => f.name === exact[1];
	if (regex) {
		try {
			const pattern = new RegExp(regex[1], "i");
			return (f) => pattern.test(f.name);
		} catch {
			return null;
		}
	}
	const part = query.toLowerCase();
	return (f) => f.name.toLowerCase().includes(part);
}

/* One flag per function, or null when nothing is searched for. */
function findFunctions(query) {
	if (query === "")
		return null;
	const predicate = parseQuery(query);
	return Uint8Array.from(functions, (f) => (predicate !== null && predicate(f) ? 1 : 0));
}

function formatShare(part, whole) {
	if (part === 0 || whole === 0)
		return "0 %";
	const share = (100 * part) / whole;
	return `${share.toFixed(share >= 99.95 ? 0 : share >= 0.095 ? 1 : 2)} %`;
}

function formatTime(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size)
			return `${(ns / size).toPrecision(ns / size >= 999.5 ? 4 : 3)} ${unit}`;
	return `${ns} ns`;
}

function formatCount(count, one, many) {
	return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}
