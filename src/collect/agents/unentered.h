/*
 * unentered - counts the CPU time of processes that have no agent, or none yet.
 *
 * CPU time after an exec with other rights, which none of our counters covers, is read from its
 * CPU clock.
 */
#pragma once

struct enter_terms;
struct image;
struct tree;

/* Milliseconds until it must be looked at again, at most wait_ms. */
int unentered_wait_ms(const struct image *image, int wait_ms);
/*
 * The image (NULL: unknown) is about to execute a program that will have no agent, and waits
 * for our answer: opens counters, which count that program from its first instruction, however
 * soon it ends.
 */
void unentered_expect(struct tree *tree, struct image *image, const struct enter_terms *terms);
/* Looks at such an image, at the intervals of unentered_wait_ms(). */
void unentered_look(struct tree *tree, struct image *image, const struct enter_terms *terms);
