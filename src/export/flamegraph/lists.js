/*
 * lists - the head line, the legend, the table of functions and the tooltip.
 *
 * Names come from other people's programs: they are set as text, never as markup.
 */
const ROWS_SHOWN = 200;
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
		formatCount(info.count, info.counted.slice(0, -1), info.counted),
		`${formatTime(totalOf[0])} of ${info.clock === "wall" ? "wall" : info.clock === "user" ? "user CPU" : "CPU"} time`,
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
	if (info.unexplained_ns !== null && Math.abs(info.unexplained_ns) > 0.02 * totalOf[0])
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

function describeMeaning() {
	const time = profile.info.clock === "wall" ? "wall time" : "CPU time";
	const callers = view.isIcicle
		? "Callers stand above, what they call below."
		: "Callers stand below, what they call above.";
	const inlined = profile.inlined.length > 0 ? "  A hatched box (↳) was inlined into its caller." : "";
	return totalOf[0] === 0
		? "There is nothing to show: no time was recorded."
		: `A box is as wide as the ${time} its function and everything it called there took.  ${callers}  ` +
			`From left to right the heaviest comes first; that is not the order of time.${inlined}`;
}

function legendEntries(rankedModules) {
	const entries = [];
	const time = new Map();
	const { self } = sumFunctions(0);
	functions.forEach((f, id) => time.set(f.language, (time.get(f.language) ?? 0) + self[id]));
	for (const [module, ns] of rankedModules.slice(0, MODULE_HUES.length))
		entries.push({
			label: module === null ? "no module" : baseName(module),
			query: module === null ? "language:native" : `module:${module}`,
			like: { language: "native", module },
			ns,
		});
	for (const [language, ns] of time)
		if (language !== "native")
			entries.push({
				label: language === FATHOM ? "not sampled" : language,
				query: `language:${language}`,
				like: { language, module: null },
				ns,
			});
	return entries.filter((entry) => entry.ns > 0).sort((a, b) => b.ns - a.ns);
}

function showLegend(entries, search) {
	element("legend").replaceChildren(...entries.map((entry) => {
		const button = make("button");
		const patch = make("canvas");
		patch.width = patch.height = 1;
		const paint = patch.getContext("2d");
		paint.fillStyle = colorOf(entry.like, 0, false);
		paint.fillRect(0, 0, 1, 1);
		button.type = "button";
		button.title = `Search for ${entry.query}`;
		button.append(patch, make("b", "", entry.label),
			make("span", "", formatShare(entry.ns, totalOf[0])));
		button.addEventListener("click", () => search(entry.query));
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

function listFunctions(sorting) {
	const { self, total } = sumFunctions(view.zoom);
	const rows = [];
	functions.forEach((f, id) => {
		if (total[id] > 0 && (!view.isMatch || view.isMatch[id]))
			rows.push({ f, self: self[id], total: total[id] });
	});
	return rows.sort(sortings[sorting]);
}

function makeRow({ f, self, total }, search) {
	const whole = totalOf[view.zoom];
	const row = make("tr");
	const name = make("td");
	const button = make("button", "", f.short);
	const origin = f.language === FATHOM ? "" : f.language;
	const module = make("td", "quiet", f.module === null ? origin : baseName(f.module));
	const file = make("td", "quiet", f.file === null ? "" : placeOf({ ...f, file: baseName(f.file) }));
	button.type = "button";
	button.title = f.short === f.name ? "" : f.name;
	button.addEventListener("click", () => search(`"${f.name}"`));
	name.append(button);
	module.title = f.module ?? "";
	file.title = placeOf(f);
	row.append(make("td", "figure", formatShare(self, whole)), make("td", "figure", formatTime(self)),
		make("td", "figure", formatShare(total, whole)), make("td", "figure", formatTime(total)),
		name, file, module);
	return row;
}

function describeList(count) {
	const what = formatCount(count, "function", "functions") + (view.isMatch ? " found" : "");
	return view.zoom === 0
		? `${what}; shares are of ${formatTime(totalOf[0])}`
		: `${what} in the zoomed box, ${functionAt(view.zoom).short}; shares are of its ${formatTime(totalOf[view.zoom])}`;
}

function showList(sorting, search) {
	const rows = listFunctions(sorting);
	element("list-title").textContent = describeList(rows.length);
	element("rows").replaceChildren(...rows.slice(0, ROWS_SHOWN).map((row) => makeRow(row, search)));
	element("more").textContent = rows.length > ROWS_SHOWN
		? `${(rows.length - ROWS_SHOWN).toLocaleString("en")} more functions; a search narrows the list.`
		: "";
	for (const button of document.querySelectorAll("th button"))
		if (button.dataset.sort === sorting)
			button.parentElement.setAttribute("aria-sort", sorting === "name" ? "ascending" : "descending");
		else
			button.parentElement.removeAttribute("aria-sort");
}

/* What is true of a node, as lines of the tooltip: [class, text]. */
function describeNode(node) {
	const f = functionAt(node);
	const lines = [["name", node === 0 ? "Everything that is shown" : f.name]];
	if (isInlined[node])
		lines.push(["quiet", `inlined into ${functionAt(parentOf[node]).name}`]);
	if (f.file !== null)
		lines.push(["quiet", placeOf(f)]);
	if (f.module !== null)
		lines.push(["quiet", f.module]);
	else if (node !== 0 && f.language === FATHOM)
		lines.push(["quiet", "time that no sample stands for"]);
	else if (node !== 0)
		lines.push(["quiet", f.language]);
	return lines;
}

function figuresOf(node) {
	const isZoomed = view.zoom !== 0 && !isAncestor(node, view.zoom);
	const figures = [
		["total", formatTime(totalOf[node]), formatShare(totalOf[node], totalOf[0])],
		["self", formatTime(selfOf[node]), formatShare(selfOf[node], totalOf[0])],
		[profile.info.counted, countOf[node].toLocaleString("en"), ""],
	];
	if (isZoomed)
		figures.push(["of the zoomed box", "", formatShare(totalOf[node], totalOf[view.zoom])]);
	return figures;
}

function showTooltip(node, x, y) {
	const tooltip = element("tooltip");
	const table = make("table");
	for (const [what, amount, share] of figuresOf(node)) {
		const row = make("tr");
		row.append(make("th", "", what), make("td", "", amount), make("td", "", share));
		table.append(row);
	}
	tooltip.replaceChildren(...describeNode(node).map(([kind, text]) => make("div", kind, text)), table);
	tooltip.hidden = false;
	const box = tooltip.getBoundingClientRect();
	const right = Math.min(x + 14, window.innerWidth - box.width - 6);
	const below = y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18;
	tooltip.style.left = `${Math.max(6, right)}px`;
	tooltip.style.top = `${Math.max(6, below)}px`;
}

function hideTooltip() {
	element("tooltip").hidden = true;
}
