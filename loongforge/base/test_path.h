// For tests: a path of the running test's own. Tests run beside one another, so no two may share a name.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"

namespace loongforge {

// A path in the temporary folder that no other test and no other process has; nothing is made there.
inline fs::path test_path(const std::string& ending = "") {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name =
      concat("loongforge_", test->test_suite_name(), "_", test->name(), "_", ::getpid(), ending);
  std::replace(name.begin(), name.end(), '/', '_');
  return fs::path(::testing::TempDir()) / name;
}

}  // namespace loongforge
