/*
 * layouts - the interpreters' layouts as the agent uses them: copies of its own, checked once.
 *
 * The recorder puts a layout into the ring when it has found an interpreter (abi/ring.h,
 * has_python, has_ruby).  The first call of these functions when the interpreter's image is loaded
 * copies the layout and checks that its addresses are in that image (layout_check.h).  Later writes
 * to the ring change nothing; a layout that is not sound is not used.
 */
#pragma once

struct python_layout;
struct ring_header;
struct ruby_layout;

/* NULL: there is none so far, or it is not sound.  Callable in handlers. */
const struct python_layout *layouts_python(struct ring_header *ring);
const struct ruby_layout *layouts_ruby(struct ring_header *ring);
/* The same outside of handlers, by dl_iterate_phdr(): before glibc 2.35, too. */
const struct python_layout *layouts_python_outside(struct ring_header *ring);
const struct ruby_layout *layouts_ruby_outside(struct ring_header *ring);
/* In a child of fork: forgets them, with the ring. */
void layouts_forget(void);
