// Drives the readers and writers of loongforge/formats from the Python tests of this folder.
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/formats/event_file.h"
#include "loongforge/formats/gguf.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/formats/jsonl.h"
#include "loongforge/formats/safetensors.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/formats/webdataset.h"

namespace loongforge {
namespace {

using Arguments = std::vector<std::string>;

// IN.gguf OUT.safetensors: every tensor as float32.
void dequantize(const Arguments& arguments) {
  const GgufFile gguf(arguments.at(0));
  std::vector<TensorInfo> infos;
  for (const GgufTensor& tensor : gguf.tensors()) infos.push_back({tensor.name, DType::kF32, tensor.shape});
  SafetensorsWriter writer(arguments.at(1), infos);
  std::vector<float> values;
  for (const GgufTensor& tensor : gguf.tensors()) {
    values.resize(static_cast<std::size_t>(tensor.numel));
    gguf.dequantize(tensor.name, values);
    writer.write(tensor.name, std::as_bytes(std::span(values)));
  }
  writer.commit();
}

// IN.gguf: the metadata as JSON.
void gguf_metadata(const Arguments& arguments) {
  std::puts(dump_json(GgufFile(arguments.at(0)).metadata()).c_str());
}

// IN OUT: a safetensors file, index or folder, rewritten as one file in the order of the input.
void copy_safetensors(const Arguments& arguments) {
  const SafetensorsSet set(arguments.at(0));
  SafetensorsWriter writer(arguments.at(1), set.tensors(), set.metadata());
  for (const TensorInfo& info : set.tensors()) writer.write(info.name, set.bytes(info.name));
  writer.commit();
}

// IN FOLDER BYTES: the same into shards of at most BYTES.
void shard_safetensors(const Arguments& arguments) {
  const SafetensorsSet set(arguments.at(0));
  ShardedSafetensorsWriter writer(arguments.at(1), "model", std::stoull(arguments.at(2)), set.tensors());
  for (const TensorInfo& info : set.tensors()) writer.write(info.name, set.bytes(info.name));
  writer.commit();
}

// PREFIX OUT.jsonl-like text on standard output: one document a line, a list of sequences.
void dump_indexed(const Arguments& arguments) {
  const IndexedDatasetReader reader(arguments.at(0));
  const auto bounds = reader.document_bounds();
  for (std::size_t d = 1; d < bounds.size(); ++d) {
    Json sequences = Json::array();
    for (std::int64_t i = bounds[d - 1]; i < bounds[d]; ++i) sequences.push_back(reader.read(i));
    std::puts(dump_json(sequences).c_str());
  }
}

// DOCUMENTS.jsonl PREFIX VOCAB: the way back.
void write_indexed(const Arguments& arguments) {
  JsonlReader documents(arguments.at(0));
  IndexedDatasetWriter writer(arguments.at(1), std::stoll(arguments.at(2)));
  Json document;
  while (documents.next(document)) {
    for (const Json& sequence : document) writer.add(sequence.get<std::vector<std::int32_t>>());
    writer.end_document();
  }
  writer.commit();
}

// POINTS.jsonl FOLDER: lines {"tag", "step", "wall", and "value" or "text"}, or {"restart": STEP}.
void events(const Arguments& arguments) {
  JsonlReader points(arguments.at(0));
  EventWriter writer(arguments.at(1));
  Json point;
  while (points.next(point)) {
    if (point.contains("restart")) {
      writer.restart(point["restart"].get<std::int64_t>());
      continue;
    }
    const auto tag = point["tag"].get<std::string>();
    const auto step = point["step"].get<std::int64_t>();
    const auto wall = point["wall"].get<double>();
    if (point.contains("text")) {
      writer.text(tag, point["text"].get<std::string>(), step, wall);
    } else {
      writer.scalar(tag, point["value"].get<double>(), step, wall);
    }
  }
}

// IN: every value of a JSONL file, one a line.
void dump_jsonl(const Arguments& arguments) {
  JsonlReader reader(arguments.at(0));
  Json value;
  while (reader.next(value)) std::puts(dump_json(value).c_str());
}

// IN.tar: one sample a line, [key, [[extension, offset, size], ...]].
void samples(const Arguments& arguments) {
  const WebdatasetShard shard(arguments.at(0));
  for (std::int64_t i = 0; i < shard.size(); ++i) {
    const WebdatasetSample sample = shard.sample(i);
    Json parts = Json::array();
    for (const SamplePart& part : sample.parts)
      parts.push_back(Json::array({part.extension, part.offset, part.size}));
    std::puts(dump_json(Json::array({sample.key, parts})).c_str());
  }
}

// IN.tar: writes IN.tar.idx.
void write_index(const Arguments& arguments) {
  WebdatasetShard(arguments.at(0)).write_index();
}

// IN.tar OUT.tar
void copy_tar(const Arguments& arguments) {
  const TarFile tar(arguments.at(0));
  TarWriter writer(arguments.at(1));
  for (auto member = tar.member_at(0); member; member = tar.member_at(member->end)) {
    writer.add(member->name, tar.bytes(member->offset, member->size));
  }
  writer.commit();
}

int run(const std::string& command, const Arguments& arguments) {
  const std::map<std::string, std::function<void(const Arguments&)>> commands = {
      {"dequantize", dequantize},
      {"gguf-metadata", gguf_metadata},
      {"copy-safetensors", copy_safetensors},
      {"shard-safetensors", shard_safetensors},
      {"dump-indexed", dump_indexed},
      {"write-indexed", write_indexed},
      {"events", events},
      {"dump-jsonl", dump_jsonl},
      {"samples", samples},
      {"write-index", write_index},
      {"copy-tar", copy_tar},
  };
  const auto found = commands.find(command);
  check<ConfigError>(found != commands.end(), "unknown command ", command);
  found->second(arguments);
  return 0;
}

}  // namespace
}  // namespace loongforge

int main(int argc, char** argv) {
  try {
    loongforge::check<loongforge::ConfigError>(argc >= 2, "usage: formats_probe COMMAND ARGUMENTS...");
    return loongforge::run(argv[1], {argv + 2, argv + argc});
  } catch (const loongforge::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exit_code();
  }
}
