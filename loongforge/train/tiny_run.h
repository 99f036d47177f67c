// For tests: a tiny prepared dataset, and a configuration that trains on it within a second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/base/random.h"
#include "loongforge/base/test_path.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/train/config.h"
#include "loongforge/train/json_lines.h"

namespace loongforge {

// A folder of the test's own, removed at its end.
class TinyRun {
 public:
  TinyRun() : root_(test_path()) {
    make_directories(root_);
    write_documents(root_ / "train", 1, 60);
    write_documents(root_ / "heldout", 2, 6);
  }
  ~TinyRun() { remove_tree(root_); }
  TinyRun(const TinyRun&) = delete;
  TinyRun& operator=(const TinyRun&) = delete;

  // Six steps of four rows in two micro-batches of the preset llama-tiny.
  RunConfig config(const std::string& run) const {
    RunConfig config;
    config.model.preset = "llama-tiny";
    config.data.train = {(root_ / "train").string()};
    config.data.eval = {(root_ / "heldout").string()};
    config.train.steps = 6;
    config.train.seq_length = 32;
    config.train.global_batch_size = 4;
    config.train.micro_batch_size = 2;
    config.train.threads = 1;
    config.train.output_dir = (root_ / run).string();
    config.optim.lr = 1e-2;
    config.optim.warmup_steps = 2;
    config.log.tensorboard = false;
    return config;
  }

  const fs::path& root() const { return root_; }
  fs::path run(const std::string& name) const { return root_ / name; }

 private:
  static void write_documents(const fs::path& prefix, std::uint64_t seed, int documents) {
    const CounterRandom random(seed, "tiny documents");
    IndexedDatasetWriter writer(prefix, 512);
    for (int d = 0; d < documents; ++d) {
      const auto document = static_cast<std::uint64_t>(d);
      std::vector<std::int32_t> ids{static_cast<std::int32_t>(random.below(64, document, 0))};
      const std::uint64_t length = 10 + random.below(50, document, 1);
      while (ids.size() < length) ids.push_back((ids.back() * 5 + 1) % 64);
      writer.add(ids);
      writer.end_document();
    }
    writer.commit();
  }

  fs::path root_;
};

// The values of `key` in a run's metrics.jsonl, in order.
inline std::vector<Json> metric(const fs::path& run, const std::string& key) {
  std::vector<Json> values;
  const fs::path copy = run / "metrics.copy.jsonl";
  fs::copy_file(run / "metrics.jsonl", copy, fs::copy_options::overwrite_existing);
  const JsonLines lines(copy, 1'000'000);
  for (const Json& record : lines.records()) values.push_back(record.value(key, Json()));
  fs::remove(copy);
  return values;
}

}  // namespace loongforge
