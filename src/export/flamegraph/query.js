/*
 * query - what stands in the search field, as a predicate on functions.
 */
const includes = (text, part) => text !== null && text.toLowerCase().includes(part);

/* Of a path its last component, unless a path was typed. */
function includesPath(path, part) {
	return path !== null && includes(part.includes("/") ? path : baseName(path), part);
}

/* A predicate on functions for what stands in the search field; null: matches nothing. */
function parseQuery(query) {
	const field = /^(module|file|language|package):(.+)$/s.exec(query);
	const exact = /^"(.*)"$/s.exec(query);
	const regex = /^\/(.+)\/$/s.exec(query);
	if (field) {
		const part = field[2].toLowerCase();
		return (f) => (f[field[1]] ?? "").toLowerCase().includes(part);
	}
	if (query === "own:")
		return (f) => f.isOwn;
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
	return (f) => includes(f.name, part) || includes(f.package, part) ||
		includesPath(f.file, part) || includesPath(f.module, part);
}

/* One flag per function, or null when nothing is searched for. */
function findFunctions(query) {
	if (query === "")
		return null;
	const predicate = parseQuery(query);
	return Uint8Array.from(functions, (f) => (predicate !== null && predicate(f) ? 1 : 0));
}

