#include "export/difference_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/calltree.h"
#include "export/meaning.h"
#include "profile/profile.h"

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path ? path : "";
}

void difference_add_key(struct text *out, const char *name, const char *file,
			const char *module)
{
	text_addf(out, "%s\n%s", name, base_name(module ? module : file));
}

/* The child of parent for that function, created if needed. */
static uint32_t node_at(struct difference_tree *tree, uint32_t parent, uint32_t function)
{
	const uint32_t key[] = { parent, function };
	const uint32_t node = intern_add(&tree->keys, key, sizeof key);

	if (node >= tree->count) {
		tree->nodes = array_grow(tree->nodes, tree->count, &tree->capacity,
					 sizeof *tree->nodes);
		tree->nodes[tree->count++] =
			(struct difference_node){ .parent = parent, .function = function };
	}
	return node;
}

static void add_profile(struct difference_tree *tree, const struct profile *profile, int side,
			double share)
{
	struct calltree calls;

	calltree_init_by_function(&calls, profile, NULL);
	CLEANUP(freep) uint32_t *nodes = xzalloc((calls.node_count + 1) * sizeof *nodes);

	for (size_t i = 0; i < calls.node_count; i++) {
		const struct calltree_node *from = &calls.nodes[i];
		CLEANUP(text_done) struct text key = { 0 };

		if (i > 0) {
			const struct function *function =
				meaning_of_function(profile, from->key);
			const struct module *module =
				profile_get_module(profile, function->module);

			difference_add_key(&key, meaning_of_name(function), function->file,
					   module ? module->path : NULL);
			nodes[i] = node_at(tree, nodes[from->parent],
					   intern_string(&tree->names, text_string(&key)));
		}
		tree->nodes[nodes[i]].self_ns[side] += share * (double)from->self_ns;
	}
	calltree_done(&calls);
}

void difference_tree_init(struct difference_tree *tree, const struct difference_terms *terms)
{
	*tree = (struct difference_tree){ 0 };
	tree->nodes = array_grow(NULL, 0, &tree->capacity, sizeof *tree->nodes);
	tree->nodes[tree->count++] = (struct difference_node){ 0 };
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < terms->counts[side]; i++)
			add_profile(tree, terms->profiles[side][i], side,
				    1.0 / (double)terms->counts[side]);
	for (size_t i = tree->count; i-- > 0;) {
		struct difference_node *node = &tree->nodes[i];

		for (int side = 0; side < 2; side++) {
			node->total_ns[side] += node->self_ns[side];
			if (i > 0)
				tree->nodes[node->parent].total_ns[side] +=
					node->total_ns[side];
		}
		tree->most_ns = fmax(tree->most_ns, fabs(node->self_ns[1] - node->self_ns[0]));
	}
}

void difference_tree_done(struct difference_tree *tree)
{
	free(tree->nodes);
	intern_done(&tree->keys);
	intern_done(&tree->names);
	*tree = (struct difference_tree){ 0 };
}

/* An element to sort: siblings together, the heaviest first. */
struct sibling {
	uint32_t parent, node;
	double ns;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Sorted by parent, then by time; *out_first: by node, the index of its first child. */
static struct sibling *sort_siblings(const struct difference_tree *tree, int side,
				     size_t *out_first)
{
	struct sibling *siblings = xzalloc((tree->count + 1) * sizeof *siblings);

	for (size_t i = 1; i < tree->count; i++)
		siblings[i - 1] = (struct sibling){ tree->nodes[i].parent, (uint32_t)i,
						    tree->nodes[i].total_ns[side] };
	qsort(siblings, tree->count - 1, sizeof *siblings, compare_siblings);
	for (size_t i = 0, at = 0; i <= tree->count; i++) {
		while (at < tree->count - 1 && siblings[at].parent < i)
			at++;
		out_first[i] = at;
	}
	return siblings;
}

struct calltree_node *difference_tree_order(const struct difference_tree *tree,
					    enum difference_side side, uint32_t **out_of)
{
	struct calltree_node *ordered = xzalloc(tree->count * sizeof *ordered);
	CLEANUP(freep) size_t *first = xzalloc((tree->count + 1) * sizeof *first);
	CLEANUP(freep) struct sibling *siblings = sort_siblings(tree, (int)side, first);
	CLEANUP(freep) size_t *next = xzalloc(tree->count * sizeof *next);
	uint32_t *of = xzalloc(tree->count * sizeof *of);
	uint32_t at = 0, count = 1;

	memcpy(next, first, tree->count * sizeof *next);
	ordered[0].total_ns = (uint64_t)tree->nodes[0].total_ns[side];
	/* From each node to its next child, or back to its parent. */
	for (;;) {
		const uint32_t node = of[at];

		if (next[node] < first[node + 1]) {
			const uint32_t child = siblings[next[node]++].node;

			of[count] = child;
			ordered[count] = (struct calltree_node){
				.parent = at,
				.key = tree->nodes[child].function,
				.self_ns = (uint64_t)tree->nodes[child].self_ns[side],
				.total_ns = (uint64_t)tree->nodes[child].total_ns[side],
			};
			at = count++;
			continue;
		}
		ordered[at].end = count;
		if (at == 0)
			break;
		at = ordered[at].parent;
	}
	*out_of = of;
	return ordered;
}
