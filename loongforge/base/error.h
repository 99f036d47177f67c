// Errors of the whole program: one family, each with the exit code that the command line returns.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace loongforge {

// Joins the parts as operator<< prints them: concat("rank ", 3) == "rank 3". An object, so that no function
// of the same name in the namespace of an argument is considered (nlohmann-json has one).
struct Concat {
  template <typename... Parts>
  std::string operator()(const Parts&... parts) const {
    std::ostringstream out;
    (out << ... << parts);
    return std::move(out).str();
  }
};
inline constexpr Concat concat;

// Base of all errors that a user can meet. The message is one line: "what: expected ..., got ...; do ...".
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// Defines one member of the family; the number is the exit code of the program.
#define LOONGFORGE_ERROR(Name, code)                                    \
  class Name : public Error {                                           \
   public:                                                              \
    explicit Name(const std::string& message) : Error(code, message) {} \
  }

LOONGFORGE_ERROR(InternalError, 1);    // a bug of ours
LOONGFORGE_ERROR(ConfigError, 2);      // usage, configuration, missing CONFIG
LOONGFORGE_ERROR(DataError, 3);        // training or evaluation data
LOONGFORGE_ERROR(CheckpointError, 4);  // model, tokenizer or checkpoint files
LOONGFORGE_ERROR(CommError, 5);        // communication between ranks
LOONGFORGE_ERROR(NumericError, 6);     // NaN or infinity where none may be
LOONGFORGE_ERROR(ResourceError, 7);    // disk, memory, permissions
LOONGFORGE_ERROR(Interrupted, 130);    // Ctrl-C

#undef LOONGFORGE_ERROR

// Throws E with the joined parts unless `condition` holds: check<DataError>(n > 0, path, ": is empty; ...").
template <typename E = InternalError, typename... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) throw E(concat(parts...));
}

}  // namespace loongforge
