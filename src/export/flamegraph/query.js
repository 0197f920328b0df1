/* query - parses the search field into a predicate on functions. */
const includes = (text, part) => text !== null && text.toLowerCase().includes(part);

/* Matches the last component of a path, or all of it if the part contains a slash. */
function includesPath(path, part) {
	return path !== null && includes(part.includes("/") ? path : baseName(path), part);
}

/*
 * A predicate on functions for a query; null for an invalid regular expression, which matches
 * nothing.
 */
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

/* One flag per function, or null if the query is empty. */
function findFunctions(query) {
	if (query === "")
		return null;
	const predicate = parseQuery(query);
	return Uint8Array.from(functions, (f) => (predicate !== null && predicate(f) ? 1 : 0));
}

