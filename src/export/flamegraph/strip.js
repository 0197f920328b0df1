/*
 * strip - what was hot when: a bar for each slot of time, with own code, packages and other
 * code stacked, or the states of the wall clock. If the user chooses a span of it, the page
 * shows that span only.
 */
const STRIP_HEIGHT = 44; /* px */
const strip = document.getElementById("strip");
/* kinds: a colour and a name for each of sums, from the bottom up. */
const bars = { kinds: [], sums: [], highest: 0 };
let dragFrom = -1;

function hasTime() {
	return profile.time_slots.slots > 1 && profile.time_slots.node.length > 0;
}

/* Own code, packages, other code. */
function classOf(f) {
	return f.isOwn ? 0 : f.origin === "package" ? 1 : 2;
}

function barKinds() {
	if (!hasStates())
		return ["your code", "packages", "the rest"].map((name, index) => ({ name, color: () => colorOfClass(index) }));
	return statesThere.map(({ id, name }) => ({ id, name, color: () => colorOfState(name, false) }))
		.sort((a, b) => a.id - b.id);
}

function sumBars(isShown, isState) {
	const { slots, slot, thread, node, ns, state } = profile.time_slots;
	const kindOfState = [];
	bars.kinds = barKinds();
	bars.kinds.forEach(({ id }, kind) => {
		kindOfState[id] = kind;
	});
	bars.sums = bars.kinds.map(() => new Float64Array(slots));
	for (let i = 0; i < node.length; i++) {
		if (!isShown(threads[thread[i]]) || (state && !isState[state[i]]))
			continue;
		const kind = state ? kindOfState[state[i]] : classOf(functions[base.functionOf[node[i]]]);
		bars.sums[kind][slot[i]] += ns[i];
	}
	bars.highest = 0;
	for (let i = 0; i < slots; i++)
		bars.highest = Math.max(bars.highest, bars.sums.reduce((sum, column) => sum + column[i], 0));
}

function colorOfClass(index) {
	return index === 0 ? rgbOfOklch(view.isDark ? 0.6 : 0.72, 0.13, OWN_HUE)
		: index === 1 ? rgbOfOklch(view.isDark ? 0.5 : 0.72, 0.09, PACKAGE_HUES[0])
			: rgbOfOklch(view.isDark ? 0.42 : 0.82, 0, 0);
}

function drawStrip(span) {
	const scale = window.devicePixelRatio || 1;
	const paint = strip.getContext("2d");
	const { slots } = profile.time_slots;
	const width = strip.parentElement.clientWidth;
	strip.width = Math.round(width * scale);
	strip.height = Math.round(STRIP_HEIGHT * scale);
	paint.setTransform(scale, 0, 0, scale, 0, 0);
	paint.fillStyle = palette().page;
	paint.fillRect(0, 0, width, STRIP_HEIGHT);
	for (let i = 0; i < slots; i++) {
		let y = STRIP_HEIGHT;
		paint.globalAlpha = span && (i < span[0] || i >= span[1]) ? 0.25 : 1;
		for (let index = 0; index < bars.kinds.length; index++) {
			const height = bars.highest > 0 ? (bars.sums[index][i] / bars.highest) * (STRIP_HEIGHT - 2) : 0;
			y -= height;
			paint.fillStyle = bars.kinds[index].color();
			paint.fillRect((i * width) / slots, y, width / slots + 0.3, height);
		}
	}
	paint.globalAlpha = 1;
	paint.fillStyle = palette().quiet;
	paint.fillRect(0, STRIP_HEIGHT - 1, width, 1);
	if (span) {
		paint.strokeStyle = palette().edge;
		paint.strokeRect((span[0] * width) / slots + 0.5, 0.5, ((span[1] - span[0]) * width) / slots - 1, STRIP_HEIGHT - 1);
	}
}

function secondsOf(slot) {
	return Number(((slot * profile.time_slots.slot_ns) / 1e9).toPrecision(4));
}

function showSpan(span) {
	const { slots, slot_ns } = profile.time_slots;
	for (const [id, slot] of [["from", span ? span[0] : 0], ["to", span ? span[1] : slots]]) {
		element(id).value = String(secondsOf(slot));
		element(id).max = String(secondsOf(slots));
		element(id).step = "any";
	}
	element("whole").disabled = span === null;
	element("strip-meaning").textContent =
		`${hasStates() ? "Threads" : `CPUs busy, ${(bars.highest / slot_ns).toFixed(1)} at most`}: ` +
		bars.kinds.map(({ name }) => name).join(", ");
	drawStrip(span);
}

/* "12-40" in the address: the first slot, and the one after the last; or null. */
function parseSpan(text) {
	const found = /^(\d+)-(\d+)$/.exec(text);
	const span = found && [Number(found[1]), Math.min(Number(found[2]), profile.time_slots.slots)];
	return hasTime() && span && span[0] < span[1] ? span : null;
}

function slotAt(event) {
	const box = strip.getBoundingClientRect();
	const slot = Math.floor(((event.clientX - box.left) / box.width) * profile.time_slots.slots);
	return Math.max(0, Math.min(profile.time_slots.slots - 1, slot));
}

function spanTo(slot) {
	return [Math.min(dragFrom, slot), Math.max(dragFrom, slot) + 1];
}

/* Dragging chooses a span, a click clears it, and the two fields set it. */
function listenToStrip(choose) {
	strip.addEventListener("pointerdown", (e) => {
		dragFrom = slotAt(e);
		strip.setPointerCapture(e.pointerId);
	});
	strip.addEventListener("pointermove", (e) => {
		if (dragFrom >= 0)
			drawStrip(spanTo(slotAt(e)));
	});
	strip.addEventListener("pointerup", (e) => {
		if (dragFrom < 0)
			return;
		const [from, to] = spanTo(slotAt(e));
		dragFrom = -1;
		choose(to - from > 1 ? `${from}-${to}` : "");
	});
	for (const id of ["from", "to"])
		element(id).addEventListener("change", () => {
			const slots = ["from", "to"].map((end) =>
				Math.round((Number(element(end).value) * 1e9) / profile.time_slots.slot_ns));
			choose(`${Math.max(0, slots[0])}-${Math.max(slots[0] + 1, slots[1])}`);
		});
	element("whole").addEventListener("click", () => choose(""));
}
