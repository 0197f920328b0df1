/*
 * unentered - processes no agent has come from so far: what they burn is counted at least.
 *
 * One that runs with other rights since its exec is out of our counters' sight, but not of
 * /proc's.
 */
#pragma once

struct enter_terms;
struct image;
struct tree;

/* Milliseconds until it is to be looked at again, or the given, if that is sooner. */
int unentered_wait_ms(const struct image *image, int wait_ms);
/*
 * The image (NULL: we do not know it) is about to execute a program that no agent will come to,
 * and waits for us: that is counted from its first instruction, however soon it ends.
 */
void unentered_expect(struct tree *tree, struct image *image, const struct enter_terms *terms);
/* Looks at such an image, as often as the session's clock comes round. */
void unentered_look(struct tree *tree, struct image *image, const struct enter_terms *terms);
