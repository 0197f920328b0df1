/*
 * pprof_writer - writes a pprof Profile in parts, and collects its string table.
 *
 * Two concatenated protobuf messages are read as one merged message. So each sample, location,
 * function and string is encoded and written as a Profile of its own as soon as it is known,
 * and memory does not grow with the number of samples.
 */
#pragma once
#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "base/table.h"
#include "export/output.h"

/* The caller sets .output and zeroes the rest; release with pprof_writer_done(). */
struct pprof_writer {
	struct output output;
	struct intern strings; /* ids are indexes of the string table */
};

/* part: the .base of a Pprof__Profile. */
void pprof_write(struct pprof_writer *writer, const ProtobufCMessage *part);
/* The index of a string, made valid UTF-8 as protobuf requires; 0 for NULL and "". */
int64_t pprof_string(struct pprof_writer *writer, const char *string);
/* Writes the strings. Returns output_done()'s result. */
int pprof_writer_done(struct pprof_writer *writer);
