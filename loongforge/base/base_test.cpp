#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <set>

#include "loongforge/base/base64.h"
#include "loongforge/base/files.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/json.h"
#include "loongforge/base/log.h"
#include "loongforge/base/parallel.h"
#include "loongforge/base/process.h"
#include "loongforge/base/progress.h"
#include "loongforge/base/random.h"

namespace loongforge {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / concat("base_test_", ::getpid());
    make_directories(folder);
  }
  void TearDown() override { remove_tree(folder); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  fs::path folder;
};

TEST(Errors, CarryTheExitCodes) {
  EXPECT_EQ(ConfigError("").exit_code(), 2);
  EXPECT_EQ(DataError("").exit_code(), 3);
  EXPECT_EQ(CheckpointError("").exit_code(), 4);
  EXPECT_EQ(CommError("").exit_code(), 5);
  EXPECT_EQ(NumericError("").exit_code(), 6);
  EXPECT_EQ(ResourceError("").exit_code(), 7);
  EXPECT_NO_THROW(check(true, "never"));
  try {
    check<DataError>(false, "x: expected ", 1, ", got ", 2);
    FAIL();
  } catch (const DataError& e) {
    EXPECT_STREQ(e.what(), "x: expected 1, got 2");
  }
}

TEST_F(Files, AtomicFileAppearsOnlyAtCommit) {
  const fs::path path = folder / "a.bin";
  {
    AtomicFile file(path);
    file.write("hello");
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(entries(), 0u);
  AtomicFile file(path);
  file.write("xxxxx world");
  file.write_at(0, std::as_bytes(std::span("hello", 5)));
  file.commit();
  EXPECT_EQ(read_file(path), "hello world");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, LargeWritesKeepTheirOrder) {
  const std::string small(1000, 'a'), large(3 << 20, 'b');
  AtomicFile file(folder / "l");
  file.write(small);
  file.write(large);
  file.write(small);
  EXPECT_EQ(file.size(), 2000u + (3u << 20));
  file.commit();
  EXPECT_EQ(read_file(folder / "l"), small + large + small);
}

TEST_F(Files, FullDiskIsAResourceErrorAndLeavesNothing) {
  // A limit on the file size stands for a full disk: write(2) fails in the same place.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      write_file_atomic(folder / "full", std::string(4 << 20, 'x'));
    } catch (const ResourceError&) {
      code = 0;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, AFolderTakesThePlaceOfAnother) {
  for (const char* name : {"made", "target"}) {
    make_directories(folder / name);
    write_file_atomic(folder / name / name, "x");
  }
  replace_directory(folder / "made", folder / "target");
  EXPECT_TRUE(fs::exists(folder / "target" / "made"));
  EXPECT_FALSE(fs::exists(folder / "target" / "target"));
  EXPECT_FALSE(fs::exists(folder / "made"));
  replace_directory(folder / "target", folder / "fresh");
  EXPECT_TRUE(fs::exists(folder / "fresh" / "made"));
  EXPECT_THROW(replace_directory(folder / "none", folder / "fresh2"), ResourceError);
}

TEST_F(Files, MissingAndWrongKindsAreNamed) {
  EXPECT_THROW(read_file(folder / "none"), DataError);
  EXPECT_THROW(read_file<CheckpointError>(folder), CheckpointError);
  EXPECT_THROW(MappedFile{folder / "none"}, DataError);
  EXPECT_THROW(write_file_atomic(folder / "no" / "such", "x"), ResourceError);
  write_file_atomic(folder / "file", "");
  EXPECT_THROW(make_directories(folder / "file" / "sub"), ResourceError);
  EXPECT_EQ(MappedFile(folder / "file").bytes().size(), 0u);
  EXPECT_THROW(require_disk_space(folder, 1ULL << 60), ResourceError);
}

TEST_F(Files, AppendAddsLines) {
  AppendFile file(folder / "log");
  file.append("a\n");
  file.append("b\n");
  EXPECT_EQ(read_file(folder / "log"), "a\nb\n");
}

TEST_F(Files, LogFileKeepsWarnings) {
  const auto before = warning_count();
  open_log_file(folder / "log.txt");
  log_warning("one row was dropped");
  open_log_file("");
  EXPECT_EQ(warning_count(), before + 1);
  EXPECT_NE(read_file(folder / "log.txt").find("warning: one row was dropped\n"), std::string::npos);
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
  EXPECT_EQ(decode_base64("Zm9v\nYg"), "foob");
  EXPECT_FALSE(decode_base64("Zm9vY"));
  EXPECT_FALSE(decode_base64("Zm-v"));
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(decode_base64(encode_base64(all)), all);
}

TEST(JsonText, KeepsOrderAndRefusesNonsense) {
  EXPECT_EQ(dump_json(parse_json(R"({"b":1,"a":[true,null,"\u00e9"]})", "t")),
            "{\"b\":1,\"a\":[true,null,\"é\"]}");
  for (const char* bad : {"", "{", "{\"a\":1,\"a\":2}", "[1] x", "nul", "{\"a\" 1}", "\"\xff\""})
    EXPECT_THROW(parse_json(bad, "t"), DataError) << bad;
  EXPECT_THROW(parse_json(std::string(100000, '['), "t"), DataError);
  try {
    parse_json<CheckpointError>("[1,", "config.json");
    FAIL();
  } catch (const CheckpointError& e) {
    EXPECT_NE(std::string(e.what()).find("config.json: not valid JSON at byte"), std::string::npos)
        << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
}

TEST(Random, PhiloxMatchesThePublishedVectors) {
  // Known answers of the Random123 distribution (kat_vectors, philox4x32 10 rounds).
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, DrawsHaveTheRightMoments) {
  const CounterRandom random(7, "test");
  double sum = 0, squares = 0, uniform = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal(3, static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
    uniform += random.uniform(4, static_cast<std::uint64_t>(i));
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.015);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  EXPECT_NE(random.bits(0, 0), CounterRandom(7, "other").bits(0, 0));
  EXPECT_NE(random.bits(0, 0), CounterRandom(8, "test").bits(0, 0));
}

TEST(Random, PermutationVisitsEachIndexOnce) {
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 17ULL, 64ULL, 1000ULL}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < n; ++i) seen.insert(permute_index(i, n, 1, "order", 2));
    EXPECT_EQ(seen.size(), n);
    EXPECT_EQ(*seen.rbegin(), n - 1);
  }
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i)
    same += permute_index(i, 1000, 1, "order", 0) == permute_index(i, 1000, 1, "order", 1) ? 1 : 0;
  EXPECT_LT(same, 20);
}

TEST(Parallel, CallsEachItemOnceAndPassesTheFirstFailureOn) {
  std::vector<std::atomic<int>> calls(1000);
  parallel_for(
      1000, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; }, 4);
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  parallel_for(0, [](std::int64_t) { FAIL(); });
  EXPECT_THROW(parallel_for(
                   100, [](std::int64_t i) { check<DataError>(i != 50, "bad"); }, 3),
               DataError);
}

// The stacks of so many threads do not fit the address space that is left.
TEST(Parallel, DoesAllTheWorkWithFewerThreadsThanAsked) {
  const auto work = [] {
    const rlimit narrow{std::uint64_t{4} << 30, std::uint64_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &narrow);
    std::atomic<int> calls{0};
    parallel_for(
        5000, [&](std::int64_t) { ++calls; }, 5000);
    std::_Exit(calls == 5000 ? 0 : 1);
  };
#ifndef __SANITIZE_ADDRESS__  // its shadow is larger than any such limit
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "");
#else
  static_cast<void>(work);
#endif
}

TEST(Interrupt, SecondSignalLeavesAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    install_interrupt_handler();
    std::raise(SIGINT);
    bool thrown = false;
    try {
      throw_if_interrupted();
    } catch (const Interrupted&) {
      thrown = true;
    }
    if (!thrown) _exit(1);
    std::raise(SIGINT);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(Progress, NumbersReadWell) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1234), "1.23k");
  EXPECT_EQ(format_count(134.5e6), "134M");
  EXPECT_EQ(format_count(0.5), "0.50");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_duration(3), "3 s");
  EXPECT_EQ(format_duration(125), "2 min 05 s");
  EXPECT_EQ(format_duration(3780), "1 h 03 min");
  EXPECT_EQ(format_duration(std::nan("")), "?");
}

TEST(Process, FactsArePlausible) {
  EXPECT_GT(resident_bytes(), 1u << 20);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() / 2);
  EXPECT_GT(machine_memory_bytes(), 1ULL << 28);
  EXPECT_EQ(utc_timestamp().size(), 20u);
}

}  // namespace
}  // namespace loongforge
