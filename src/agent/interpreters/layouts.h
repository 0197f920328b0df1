/*
 * layouts - the interpreters' layouts as the agent uses them: copies of its own, checked once.
 *
 * The recorder puts a layout into the ring when it has found an interpreter (abi/ring.h,
 * has_python, has_ruby).  The first that asks for it when the interpreter's image is there copies
 * it and looks whether its addresses are of that image (layout_check.h).  What is written into
 * the ring later changes nothing; a layout that is not sound is none.
 */
#pragma once

struct python_layout;
struct ring_header;
struct ruby_layout;

/* NULL: there is none so far, or none that is sound.  In handlers, too. */
const struct python_layout *layouts_python(struct ring_header *ring);
const struct ruby_layout *layouts_ruby(struct ring_header *ring);
/* The same where the linker's list may be read, which has more before glibc 2.35. */
const struct python_layout *layouts_python_outside(struct ring_header *ring);
const struct ruby_layout *layouts_ruby_outside(struct ring_header *ring);
/* With the ring, in a child of fork. */
void layouts_forget(void);
