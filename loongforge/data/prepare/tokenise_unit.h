// The work on one unit: files or records to tokens and counts.
#pragma once

#include "loongforge/data/prepare.h"
#include "loongforge/data/prepare/part_file.h"
#include "loongforge/data/prepare/unit_reader.h"

namespace loongforge {

// The id written behind each document; nothing when options.append_eos is off. Throws CheckpointError when
// the tokenizer has no such token.
std::optional<std::int32_t> end_of_document_id(const PrepareOptions& options);

// A pure function of the unit's sources and the options. Throws DataError naming the file.
Part tokenise_unit(const Unit& unit, const SourceList& sources, const PrepareOptions& options);

}  // namespace loongforge
