// What the tests of this floor share: a folder that vanishes, and the message of an expected error.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <string_view>

#include "loongforge/base/files.h"

namespace loongforge {

class TestFolder {
 public:
  TestFolder() {
    static std::atomic<int> counter{0};
    path_ = fs::temp_directory_path() / concat("loongforge-formats-", ::getpid(), "-", counter++);
    make_directories(path_);
  }
  ~TestFolder() { remove_tree(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  fs::path operator/(std::string_view name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  // Writes a file and returns its path.
  fs::path put(std::string_view name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  int file_count() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  fs::path path_;
};

// Message of the E that `action` throws; fails the test when it throws none or another, or not one line.
template <typename E, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

// Whether `text` contains `part`, with both in the failure message.
inline ::testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

// The bytes of a number, little endian.
template <typename T>
std::string raw(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace loongforge
