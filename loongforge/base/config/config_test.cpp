#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "loongforge/base/config/load.h"
#include "loongforge/base/config/print.h"

namespace loongforge {
namespace {

struct Settings {
  double lr = 3e-4;
  std::int64_t steps = 10;
  std::string schedule = "cosine";
  std::optional<std::int64_t> rank;
  std::vector<std::string> train;
  std::vector<double> weights;
  bool deterministic = false;

  void fields(Fields& f) {
    f.field("optim.lr", lr, "Peak learning rate.").above(0);
    f.field("optim.schedule", schedule, "Shape of the rate.").one_of({"cosine", "linear"});
    f.field("train.steps", steps, "Optimizer steps.").at_least(1).unit("steps");
    f.field("train.deterministic", deterministic, "Same bits.");
    f.field("lora.rank", rank, "Rank of the adapters.").at_least(1);
    f.field("data.train", train, "Data sets.");
    f.field("data.train_weights", weights, "Weights.").at_least(0);
  }
};

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / concat("config_test_", ::getpid());
    make_directories(folder);
    settings.fields(fields);
  }
  void TearDown() override { remove_tree(folder); }

  fs::path write(const std::string& name, const std::string& text) {
    write_file_atomic(folder / name, text);
    return folder / name;
  }
  std::string failure(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
      load_config(fields, write("bad.yaml", text), overrides);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "no error";
  }

  fs::path folder;
  Settings settings;
  Fields fields;
};

TEST_F(ConfigTest, ReadsEveryType) {
  load_config(fields,
              write("a.yaml",
                    "optim:\n  lr: 1e-3\n  schedule: linear\ntrain: {steps: 1e3, deterministic: true}\n"
                    "lora:\n  rank: 8\ndata:\n  train: [a, b]\n  train_weights: 2\n"),
              {});
  EXPECT_EQ(settings.lr, 1e-3);
  EXPECT_EQ(settings.schedule, "linear");
  EXPECT_EQ(settings.steps, 1000);
  EXPECT_TRUE(settings.deterministic);
  EXPECT_EQ(settings.rank, 8);
  EXPECT_EQ(settings.train, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings.weights, (std::vector<double>{2}));
}

TEST_F(ConfigTest, OverridesWinAndNullEmptiesAnOptional) {
  load_config(fields, write("a.yaml", "lora: {rank: 8}\n"),
              {"lora.rank=null", "optim.lr=0.5", "data.train=[x, y]"});
  EXPECT_FALSE(settings.rank.has_value());
  EXPECT_EQ(settings.lr, 0.5);
  EXPECT_EQ(settings.train.size(), 2u);
}

TEST_F(ConfigTest, IncludesComeFirst) {
  write("base.yaml", "optim: {lr: 1, schedule: linear}\n");
  load_config(fields, write("a.yaml", "include: base.yaml\noptim: {lr: 2}\n"), {});
  EXPECT_EQ(settings.lr, 2);
  EXPECT_EQ(settings.schedule, "linear");
}

TEST_F(ConfigTest, IncludeOfItselfIsRefused) {
  EXPECT_NE(failure("include: bad.yaml\n").find("includes nest deeper"), std::string::npos);
}

TEST_F(ConfigTest, ReplacesEnvironmentVariables) {
  ::setenv("LOONGFORGE_TEST_PATH", "/data", 1);
  load_config(
      fields,
      write(
          "a.yaml",
          "data: {train: '${env:LOONGFORGE_TEST_PATH}/x'}\noptim: {schedule: '${env:NONE_SUCH:-linear}'}\n"),
      {});
  EXPECT_EQ(settings.train.front(), "/data/x");
  EXPECT_EQ(settings.schedule, "linear");
  EXPECT_NE(
      failure("data: {train: '${env:NONE_SUCH}'}\n").find("environment variable 'NONE_SUCH' is not set"),
      std::string::npos);
}

TEST_F(ConfigTest, UnknownKeyNamesPlaceAndNearestKey) {
  const std::string what = failure("optim:\n  learning: 1\n  schedul: linear\n");
  EXPECT_NE(what.find("bad.yaml:3:3: unknown key 'optim.schedul'; did you mean 'optim.schedule'?"),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("unknown key 'optim.learning'"), std::string::npos);
}

TEST_F(ConfigTest, WrongTypesAndRangesAreAllListed) {
  const std::string what = failure(
      "optim: {lr: -1, schedule: sine}\ntrain: {steps: many, deterministic: 'true'}\ndata: {train: {a: "
      "b}}\n");
  for (const char* part :
       {"optim.lr: expected > 0, got -1", "optim.schedule: expected cosine | linear, got 'sine'",
        "train.steps: expected integer, got 'many'",
        "train.deterministic: expected true or false, got the text 'true'",
        "data.train: expected list of texts, got a block of keys"})
    EXPECT_NE(what.find(part), std::string::npos) << part << "\n" << what;
}

TEST_F(ConfigTest, BrokenFilesAreNamed) {
  EXPECT_NE(failure("a: [1\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(failure("just text\n").find("expected a mapping"), std::string::npos);
  EXPECT_NE(failure("train: {steps: 1}\ntrain: {steps: 2}\n").find("stands twice"), std::string::npos);
  EXPECT_THROW(load_config(fields, folder / "none.yaml", {}), ConfigError);
  EXPECT_NE(failure("", {"train.steps"}).find("expected key.path=value"), std::string::npos);
}

TEST_F(ConfigTest, NonsenseNumbersAreRefused) {
  for (const char* value : {"1.5", "nan", "1e300", "''", "[1]", "0x"})
    EXPECT_NE(failure(concat("train: {steps: ", value, "}\n")), "no error") << value;
  EXPECT_NE(failure("optim: {lr: .nan}\n"), "no error");
}

TEST_F(ConfigTest, PrintedConfigurationReadsBack) {
  settings.schedule = "linear";
  settings.rank = 4;
  settings.train = {"a b: #c", "true", "x\"y\\"};
  settings.lr = 0.1 + 0.2;
  const auto path = write("out.yaml", print_config(fields, true));
  Settings other;
  Fields other_fields;
  other.fields(other_fields);
  load_config(other_fields, path, {});
  EXPECT_EQ(print_config(other_fields, false), print_config(fields, false));
  EXPECT_EQ(other.train, settings.train);
  EXPECT_EQ(other.lr, settings.lr);
}

TEST_F(ConfigTest, OriginsAreShown) {
  load_config(fields, write("a.yaml", "optim:\n  lr: 1\n"), {"train.steps=3"});
  const std::string text = print_config(fields, true);
  EXPECT_NE(text.find("a.yaml:2:7"), std::string::npos) << text;
  EXPECT_NE(text.find("# command line"), std::string::npos);
  EXPECT_NE(text.find("# default"), std::string::npos);
}

TEST_F(ConfigTest, MarkdownListsEveryKey) {
  const std::string text = config_markdown(fields);
  for (const auto& field : fields.all()) EXPECT_NE(text.find("`" + field.path + "`"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
