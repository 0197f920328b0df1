/*
 * states - the states of threads on the wall clock: colours, and which are shown.
 *
 * A function that mostly waits, as the system call at the end of a stack, has the colour of its
 * state; a stripe along the lower edge of each box of the call tree shows the states of its
 * time.
 */
/* Hue and chroma in OKLCH. */
const STATE_COLORS = {
	running: [145, 0.13], runnable: [100, 0.14], gil: [18, 0.15], gvl: [18, 0.15], lock: [350, 0.13],
	io: [245, 0.13], sleep: [285, 0.07], wait: [300, 0.13], stopped: [0, 0], syscall: [200, 0.09],
};
const STATE_MEANINGS = {
	running: "on a CPU", runnable: "wants a CPU", gil: "waits for Python's GIL", gvl: "waits for Ruby's GVL",
	lock: "waits for a lock, a condition, another thread", io: "waits for a file, a socket, a pipe",
	sleep: "sleeps", wait: "waits for a child, a signal, a thread's end", stopped: "is stopped",
	syscall: "waits in another system call",
};
const STATE_EDGE = 3; /* px */

function hasStates() {
	return profile.states !== undefined;
}

/* States with any time in the whole profile, longest first: [{ id, name, ns }]. */
const statesThere = (profile.states ?? []).map((name, id) => ({ id, name, ns: 0 }));
/* By function: the state with more than half of its self time; -1: it ran, or there is none. */
const stateOfFunction = new Int8Array(functions.length).fill(-1);

function sumStates() {
	const { node, ns, state } = profile.rows;
	const whole = new Float64Array(functions.length);
	const sums = statesThere.map(() => new Float64Array(functions.length));
	for (let i = 0; i < node.length; i++) {
		const id = base.functionOf[node[i]];
		statesThere[state[i]].ns += ns[i];
		whole[id] += ns[i];
		sums[state[i]][id] += ns[i];
	}
	for (const { id, name } of statesThere)
		if (name !== "running")
			sums[id].forEach((sum, f) => {
				if (sum > whole[f] / 2)
					stateOfFunction[f] = id;
			});
	statesThere.sort((a, b) => b.ns - a.ns);
	while (statesThere.length > 0 && statesThere[statesThere.length - 1].ns === 0)
		statesThere.pop();
}

const IDLE = "idle";

function idleNs() {
	return threads.reduce((sum, t) => sum + (t.isIdle ? t.ns : 0), 0);
}

/* "sleep,io,idle" in the address: those of them that exist. */
function parseHidden(text) {
	return text.split(",").filter((name) => statesThere.some((s) => s.name === name) ||
		(name === IDLE && idleNs() > 0)).join(",");
}

/* isShown, but without idle threads if those are hidden. */
function withoutIdle(hidden, isShown) {
	return hidden.split(",").includes(IDLE) ? (t) => !t.isIdle && isShown(t) : isShown;
}

/* By a state's number: whether rows in that state are shown. */
function stateFilter(hidden) {
	const names = hidden.split(",");
	return (profile.states ?? []).map((name) => !names.includes(name));
}

function toggleState(hidden, name) {
	const names = hidden === "" ? [] : hidden.split(",");
	return (names.includes(name) ? names.filter((n) => n !== name) : [...names, name]).join(",");
}

/* All states except running. */
function allWaits() {
	return statesThere.map((s) => s.name).filter((name) => name !== "running").join(",");
}

function colorOfState(name, isDimmed) {
	const [hue, chroma] = STATE_COLORS[name];
	const lightness = view.isDark ? (isDimmed ? 0.31 : 0.47) : isDimmed ? 0.945 : 0.8;
	return rgbOfOklch(lightness, isDimmed ? chroma * 0.2 : chroma * (view.isDark ? 0.85 : 1), hue);
}

/* The state whose colour a function has, or undefined. */
function waitOf(id) {
	return stateOfFunction[id] < 0 ? undefined : profile.states[stateOfFunction[id]];
}

/* By index in statesThere: the time in each node of the call tree, with those below it. */
let stateTotals = [];

/* Sums the rows for which isShown(i) holds. */
function sumStateTotals(rows, isShown) {
	stateTotals = statesThere.map(() => new Float64Array(base.count));
	const placeOf = [];
	statesThere.forEach(({ id }, place) => {
		placeOf[id] = place;
	});
	for (let i = 0; i < rows.node.length; i++)
		if (isShown(i) && placeOf[rows.state[i]] !== undefined)
			stateTotals[placeOf[rows.state[i]]][rows.node[i]] += rows.ns[i];
	for (const totals of stateTotals)
		for (let i = base.count - 1; i > 0; i--)
			totals[base.parentOf[i]] += totals[i];
}

function drawStateEdge(node, box) {
	let x = box.x;
	statesThere.forEach(({ name }, place) => {
		const width = (box.width * stateTotals[place][node]) / totalOf[node];
		context.fillStyle = colorOfState(name, false);
		context.fillRect(x, box.y + box.height - 1 - STATE_EDGE, width, STATE_EDGE);
		x += width;
	});
}

/* "io 62 %", … for a node of the call tree, the largest first. */
function describeStates(node) {
	return statesThere
		.map(({ name }, place) => ({ name, ns: stateTotals[place][node] }))
		.filter(({ ns }) => ns > 0)
		.sort((a, b) => b.ns - a.ns)
		.map(({ name, ns }) => [name, formatShare(ns, totalOf[node])]);
}

/* Makes a checkbox for each state. */
function showStateLegend(hidden, choose) {
	const names = hidden.split(",");
	const focused = document.activeElement?.dataset?.state;
	element("states").hidden = !hasStates();
	const idle = threads.filter((t) => t.isIdle && t.ns > 0).length;
	const entries = idle > 0 ? [...statesThere, { name: IDLE, ns: idleNs() }] : statesThere;
	element("states").replaceChildren(...entries.map(({ name, ns }) => {
		const label = make("label");
		const box = make("input");
		const patch = make("canvas");
		patch.width = patch.height = 1;
		if (name !== IDLE) {
			const paint = patch.getContext("2d");
			paint.fillStyle = colorOfState(name, false);
			paint.fillRect(0, 0, 1, 1);
		}
		box.type = "checkbox";
		box.checked = !names.includes(name);
		box.dataset.state = name;
		box.addEventListener("change", () => choose(toggleState(hidden, name)));
		label.title = STATE_MEANINGS[name] ?? "threads that waited at one place for 95 % of their lives";
		label.append(box, ...(name === IDLE ? [] : [patch]),
			make("b", "", name === IDLE ? formatCount(idle, "idle thread", "idle threads") : name),
			make("span", "", formatShare(ns, wholeTime)));
		return label;
	}));
	if (focused)
		element("states").querySelector(`[data-state="${focused}"]`)?.focus();
}
