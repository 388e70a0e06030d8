/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocol buffers' wire format (protobuf.dev, "Encoding"), as much of it as a writer needs that
 * puts one message after the other: a generated library would want all of a profile in memory as a
 * tree of structs first. Failures stay in the buffer.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

/* Seven bits a byte, lowest first: what DWARF calls LEB128. */
static inline void pev_proto_varint(struct pev_buf *b, uint64_t v)
{
	while (v > 127) {
		pev_buf_u8(b, (uint8_t)(v & 127) | 128);
		v >>= 7;
	}
	pev_buf_u8(b, (uint8_t)v);
}

/* An integer field; 0 is what a missing one means. */
static inline void pev_proto_uint(struct pev_buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	pev_proto_varint(b, (uint64_t)field << 3);
	pev_proto_varint(b, v);
}

/* A field of bytes: a string, a message, or packed numbers. */
static inline void pev_proto_bytes(struct pev_buf *b, unsigned int field, const void *bytes,
				   size_t n)
{
	pev_proto_varint(b, (uint64_t)field << 3 | 2);
	pev_proto_varint(b, n);
	pev_buf_put(b, bytes, n);
}

/* Puts the message @m as a field, and empties it. */
static inline void pev_proto_message(struct pev_buf *b, unsigned int field, struct pev_buf *m)
{
	if (m->failed)
		b->failed = m->failed;
	pev_proto_bytes(b, field, m->data, m->size);
	pev_buf_reset(m);
}
