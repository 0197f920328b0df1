/*
 * lists - fills in the head line, the legend, the table of functions and the details of a box.
 *
 * Names come from other people's programs: they are set as text, never as markup.
 */
const ROWS_SHOWN = 200;
/* Of all threads, over all time. */
let wholeTime = 0;
const element = (id) => document.getElementById(id);

function make(tag, className, text) {
	const made = document.createElement(tag);
	if (className)
		made.className = className;
	if (text !== undefined)
		made.textContent = text;
	return made;
}

function describeFacts() {
	const info = profile.info;
	const sampled = threads.filter((t) => t.ns > 0);
	const processes = new Set(sampled.filter((t) => t.pid).map((t) => t.pid)).size;
	const facts = [
		...(info.part ? [info.part] : []),
		formatCount(info.count, info.counted.slice(0, -1), info.counted),
		hasStates() ? `${formatTime(wholeTime)} of threads' lives`
			: `${formatTime(wholeTime)} of ${info.clock === "wall" ? "wall" : info.clock === "user" ? "user CPU" : "CPU"} time`,
	];
	if (info.wall_ns > 0)
		facts.push(`${formatTime(info.wall_ns)} of wall time`);
	facts.push(formatCount(sampled.length, "thread", "threads") +
		(processes > 1 ? ` in ${processes} processes` : ""));
	if (info.rate_hz)
		facts.push(`${info.rate_hz.toLocaleString("en")} Hz${info.trigger ? ` (${info.trigger})` : ""}`);
	if (info.start_unix_ns !== null)
		facts.push(new Date(info.start_unix_ns / 1e6).toLocaleString());
	if (info.host)
		facts.push(info.host);
	return facts.join(" · ");
}

function describeWarnings() {
	const info = profile.info;
	const warnings = [];
	if (info.is_unfinished)
		warnings.push("The recording has no end: it was still being written, or its recorder was killed.");
	if (info.lost > 0)
		warnings.push(`${formatCount(info.lost, "sample was", "samples were")} lost.`);
	if (info.unexplained_ns !== null && Math.abs(info.unexplained_ns) > 0.02 * wholeTime)
		warnings.push(`The kernel's figure differs by ${formatTime(Math.abs(info.unexplained_ns))} that nothing here stands for.`);
	return warnings.join("  ");
}

function showHead() {
	const info = profile.info;
	const command = info.command.join(" ") || "fathom";
	document.title = `${command} – flame graph`;
	element("command").textContent = command;
	element("command").title = command;
	element("facts").textContent = describeFacts();
	element("warnings").textContent = describeWarnings();
	element("warnings").hidden = element("warnings").textContent === "";
	element("notes").hidden = info.notes.length === 0;
	element("notes").firstElementChild.textContent = formatCount(info.notes.length, "note", "notes");
	for (const note of info.notes)
		element("notes").lastElementChild.append(make("li", "", note));
}

const MEANING = {
	flame: "Callers are below, their callees above.",
	icicle: "Callers are above, their callees below.",
	inverted: "At the top are the functions that used it themselves, below each its callers.",
	sandwich: "Above the function are its callers, below it its callees.  A click on a box shows its function that way.",
};

function describeMeaning() {
	const time = profile.info.clock === "wall" ? "wall time" : "CPU time";
	const states = hasStates() ? "  Its lower edge shows what threads did there: whether they ran, or what they waited for." : "";
	const isOfCalls = view.kind === "flame" || view.kind === "icicle";
	const inlined = isOfCalls && profile.inlined.length > 0 ? "  A hatched box (↳) was inlined into its caller." : "";
	const width = isOfCalls
		? `A box is as wide as the ${time} of its function and of everything it called there.`
		: `A box is as wide as the ${time} spent in its chain of calls.`;
	return base.totalOf[0] === 0 && wholeTime > 0
		? "Nothing that is selected took any time."
		: base.totalOf[0] === 0
		? "There is nothing to show: no time was recorded."
		: `${width}  ${MEANING[view.kind]}  Siblings are ordered by weight, the heaviest first, not by time.${isOfCalls ? states : ""}${inlined}`;
}

const LEGEND_SHOWN = 14;

function queryOf(f) {
	return f.isOwn ? "own:" : f.language === FATHOM ? "language:fathom" : `package:${f.package}`;
}

function showLegend(entries, search) {
	const shown = entries.filter((entry) => entry.ns > 0).slice(0, LEGEND_SHOWN);
	element("legend").replaceChildren(...shown.map((entry) => {
		const button = make("button");
		const patch = make("canvas");
		patch.width = patch.height = 1;
		const paint = patch.getContext("2d");
		paint.fillStyle = colorOf(entry.like, 0, false);
		paint.fillRect(0, 0, 1, 1);
		button.type = "button";
		button.title = `Search for ${queryOf(entry.like)}`;
		button.append(patch, make("b", "", entry.name),
			make("span", "", formatShare(entry.ns, wholeTime)));
		button.addEventListener("click", () => search(queryOf(entry.like)));
		return button;
	}));
}

function placeOf(f) {
	if (f.file === null)
		return "";
	return f.line > 0 ? `${f.file}:${f.line}` : f.file;
}

const sortings = {
	self: (a, b) => b.self - a.self || b.total - a.total,
	total: (a, b) => b.total - a.total || b.self - a.self,
	name: (a, b) => (a.f.name < b.f.name ? -1 : a.f.name > b.f.name ? 1 : b.self - a.self),
};

/* The node of the call tree that the list covers: other trees are listed whole. */
function listedNode() {
	return tree === base ? view.zoom : 0;
}

function listFunctions(sorting) {
	const { self, total } = sumFunctions(listedNode());
	const rows = [];
	functions.forEach((f, id) => {
		if (total[id] > 0 && (!view.isMatch || view.isMatch[id]))
			rows.push({ f, id, self: self[id], total: total[id] });
	});
	return rows.sort(sortings[sorting]);
}

function makeRow({ f, id, self, total }, search, center) {
	const whole = base.totalOf[listedNode()];
	const row = make("tr");
	const name = make("td");
	const button = make("button", "", f.short);
	const origin = f.language === FATHOM ? "" : f.language;
	const module = make("td", "quiet", f.module === null ? origin : baseName(f.module));
	const file = make("td", "quiet", f.file === null ? "" : placeOf({ ...f, file: baseName(f.file) }));
	const around = make("button", "around", "⇅");
	button.type = around.type = "button";
	button.title = f.short === f.name ? "" : f.name;
	around.title = "What calls it, and what it calls";
	around.setAttribute("aria-label", `Callers and callees of ${f.short}`);
	around.addEventListener("click", () => center(id));
	button.addEventListener("click", () => search(`"${f.name}"`));
	name.append(button, around);
	module.title = f.module ?? "";
	file.title = placeOf(f);
	row.append(make("td", "figure", formatShare(self, whole)), make("td", "figure", formatTime(self)),
		make("td", "figure", formatShare(total, whole)), make("td", "figure", formatTime(total)),
		name, file, module);
	return row;
}

function describeList(count) {
	const what = formatCount(count, "function", "functions") + (view.isMatch ? " found" : "");
	return listedNode() === 0
		? `${what}; shares are of ${formatTime(base.totalOf[0])}`
		: `${what} in the zoomed box, ${functionAt(view.zoom).short}; shares are of its ${formatTime(totalOf[view.zoom])}`;
}

function showList(sorting, search, center) {
	const rows = listFunctions(sorting);
	element("list-title").textContent = describeList(rows.length);
	element("rows").replaceChildren(...rows.slice(0, ROWS_SHOWN).map((row) => makeRow(row, search, center)));
	element("more").textContent = rows.length > ROWS_SHOWN
		? `${(rows.length - ROWS_SHOWN).toLocaleString("en")} more functions; a search narrows the list.`
		: "";
	for (const button of document.querySelectorAll("th button"))
		if (button.dataset.sort === sorting)
			button.parentElement.setAttribute("aria-sort", sorting === "name" ? "ascending" : "descending");
		else
			button.parentElement.removeAttribute("aria-sort");
}

/* The origin of a function: its file, its program or library, its package. */
function originOf(f) {
	const parts = [
		f.file === null ? "" : placeOf(f),
		f.module ?? (f.language === FATHOM ? "time that no sample stands for" : f.language),
		f.isOwn ? "your code" : f.package === "" || f.language === FATHOM ? "" : `package ${f.package}`,
	];
	return parts.filter((part) => part !== "").join(" · ");
}

function nameOf(node) {
	const inlined = isInlined[node] ? `, inlined into ${functionAt(parentOf[node]).name}` : "";
	return (node === 0 && tree.root === everything ? "Everything that is shown" : functionAt(node).name) + inlined;
}

/*
 * " ±1.2": the uncertainty of the share, at 95 % confidence. Known for the call tree while all
 * of it is shown; not for boxes that are exact or narrow.
 */
function formatOff(node) {
	const off = tree === base && profile.off ? profile.off[node] : 0;
	if (!off || base.totalOf[0] !== wholeTime)
		return "";
	return ` ±${(Math.ceil((1000 * off) / wholeTime) / 10).toFixed(1)}`;
}

/* [what, amount, share]; trees other than the call tree have only one time. */
function figuresOf(node) {
	const whole = base.totalOf[0];
	const figures = [["total", formatTime(totalOf[node]), formatShare(totalOf[node], whole) + formatOff(node)]];
	if (tree === base) {
		figures.push(["self", formatTime(selfOf[node]), formatShare(selfOf[node], whole)]);
		figures.push([profile.info.counted, countOf[node].toLocaleString("en"), ""]);
	}
	if (hasStates() && tree === base)
		figures.push(...describeStates(node).map(([name, share]) => [name, "", share]));
	if (view.zoom !== 0 && !isAncestor(node, view.zoom))
		figures.push(["of the zoomed box", "", formatShare(totalOf[node], totalOf[view.zoom])]);
	return figures;
}

/* Details are shown in a place of their own, which never covers a box. */
function showDetails(node) {
	const figures = make("p", "figures");
	for (const [what, amount, share] of figuresOf(node))
		figures.append(make("span", "quiet", what), ` ${[amount, share].filter((part) => part !== "").join("  ")}   `);
	element("details").replaceChildren(figures, make("p", "name", nameOf(node)),
		make("p", "quiet", tree.root === everything && node === 0 ? "" : originOf(functionAt(node))));
}
