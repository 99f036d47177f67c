#include "loongforge/train/report.h"

#include <gtest/gtest.h>

#include <string>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"
#include "loongforge/base/test_path.h"
#include "loongforge/train/report/run_data.h"

namespace loongforge {
namespace {

class Report : public testing::Test {
 protected:
  void SetUp() override {
    remove_tree(root_);
    make_run(root_ / "pretrain");
  }
  void TearDown() override { remove_tree(root_); }

  static void make_run(const fs::path& run) {
    make_directories(run / "eval");
    write_file_atomic(run / "metrics.jsonl",
                      "{\"step\":1,\"loss\":3.25,\"lr\":0.001}\n{\"step\":2,\"loss\":3.125,\"lr\":0.002}\n");
    write_file_atomic(run / "eval.jsonl", "{\"step\":0,\"loss\":3.5}\n{\"step\":2,\"loss\":3.0}\n");
    write_file_atomic(run / "config.yaml", "task: pretrain\ntrain:\n  steps: 2\n  output_dir: runs/x\n");
    write_file_atomic(run / "config_origins.json", "{\"train.steps\": \"recipe.yaml:3:8\"}\n");
    write_file_atomic(run / "summary.json",
                      "{\"heldout_loss_after\": 3.0, \"machine\": {\"cpu\": \"Tiny <1>\"}}\n");
    write_file_atomic(run / "log.txt",
                      "2026-01-01T00:00:00Z hello\n2026-01-01T00:00:00Z warning: 3 rows cut\n"
                      "2026-01-01T00:00:01Z warning: 3 rows cut\n");
  }
  static void write_match(const fs::path& run, const std::string& moment, bool right) {
    std::string lines = "{\"kind\":\"match\"}\n";
    for (int i = 0; i < 40; ++i) {
      lines += dump_json({{"index", i},
                          {"task", i % 2 ? "sum" : "sort"},
                          {"question", concat("question ", i)},
                          {"expected", "7"},
                          {"answer", moment + std::to_string(i)},
                          {"right", right}}) +
               "\n";
    }
    write_file_atomic(run / "eval" / ("match_" + moment + ".jsonl"), lines);
    write_file_atomic(
        run / "eval" / ("match_" + moment + ".json"),
        dump_json({{"kind", "match"}, {"tasks", Json::object()}, {"answers", "match_" + moment + ".jsonl"}}));
  }
  // The JSON that the page carries.
  static Json carried(const std::string& page) {
    const std::string open = "<script id=\"data\" type=\"application/json\">";
    const auto begin = page.find(open) + open.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
  static std::string error_of(const std::vector<fs::path>& folders, const ReportOptions& options = {}) {
    try {
      make_report(folders, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path root_ = test_path();
};

TEST_F(Report, CarriesCurvesConfigurationWarningsAndMachine) {
  const Json run = carried(make_report({root_ / "pretrain"}))["runs"][0];
  EXPECT_EQ(run["name"], "pretrain");
  EXPECT_EQ(run["curves"]["steps"], Json::parse("[1, 2]"));
  EXPECT_EQ(run["curves"]["columns"]["loss"], Json::parse("[3.25, 3.125]"));
  EXPECT_EQ(run["eval"]["columns"]["loss"], Json::parse("[3.5, 3]"));
  EXPECT_EQ(run["warnings"].size(), 1u);
  EXPECT_EQ(run["machine"]["cpu"], "Tiny <1>");
  bool found = false;
  for (const Json& entry : run["config"]["entries"]) {
    if (entry["key"] != "train.steps") continue;
    found = true;
    EXPECT_EQ(entry["value"], "2");
    EXPECT_EQ(entry["origin"], "recipe.yaml:3:8");
    EXPECT_EQ(entry["changed"], true);
  }
  EXPECT_TRUE(found);
}

TEST_F(Report, NeedsNoNetwork) {
  const std::string page = make_report({root_ / "pretrain"});
  for (const char* needle : {"http:", "https:", "src=", "url(", "@import", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(page.find(needle), std::string::npos) << needle;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST_F(Report, TextCannotLeaveItsPlace) {
  const std::string evil = "</script><script>alert(1)</script><!--page-->";
  write_file_atomic(root_ / "pretrain" / "samples.jsonl",
                    dump_json({{"step", 0}, {"prompt", evil}, {"text", evil}}) + "\n");
  ReportOptions options;
  options.title = evil;
  const std::string page = make_report({root_ / "pretrain"}, options);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(carried(page)["runs"][0]["samples"][0]["prompt"], evil);
}

TEST_F(Report, IsUtf8WhateverTheFilesHold) {
  write_file_atomic(root_ / "pretrain" / "log.txt", "2026-01-01T00:00:00Z warning: caf\xE9 \xF0\x9F\n");
  const std::string page = make_report({root_ / "pretrain"});
  EXPECT_NO_THROW((void)Json(page).dump());  // strict: throws on bytes that are no UTF-8
}

TEST_F(Report, LeavesOutAHalfWrittenLastLine) {
  write_file_atomic(root_ / "pretrain" / "metrics.jsonl", "{\"step\":1,\"loss\":3.25}\n{\"step\":2,\"lo");
  const Json curves = read_curves(root_ / "pretrain" / "metrics.jsonl", 100);
  EXPECT_EQ(curves["steps"].size(), 1u);
  EXPECT_EQ(curves["note"], "");
}

TEST_F(Report, CountsDamagedLines) {
  write_file_atomic(root_ / "pretrain" / "metrics.jsonl",
                    "{\"step\":1,\"loss\":3.25}\nrubbish\n{\"step\":3,\"loss\":null}\n");
  const Json curves = read_curves(root_ / "pretrain" / "metrics.jsonl", 100);
  EXPECT_EQ(curves["steps"].size(), 2u);
  EXPECT_EQ(curves["columns"]["loss"], Json::parse("[3.25, null]"));
  EXPECT_NE(curves["note"].get<std::string>().find("1 damaged"), std::string::npos);
}

TEST_F(Report, AResumedRunCountsOnce) {
  write_file_atomic(root_ / "pretrain" / "metrics.jsonl",
                    "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":2}\n{\"step\":3,\"loss\":3}\n{\"step\":2,"
                    "\"loss\":20}\n");
  const Json curves = read_curves(root_ / "pretrain" / "metrics.jsonl", 100);
  EXPECT_EQ(curves["steps"], Json::parse("[1, 2]"));
  EXPECT_EQ(curves["columns"]["loss"], Json::parse("[1, 20]"));
}

TEST_F(Report, TheClockBecomesTimeSinceTheStart) {
  write_file_atomic(root_ / "pretrain" / "metrics.jsonl",
                    "{\"step\":1,\"time\":1796076270.25}\n{\"step\":2,\"time\":1796076272.75}\n");
  const Json curves = read_curves(root_ / "pretrain" / "metrics.jsonl", 100);
  EXPECT_EQ(curves["columns"], Json::parse("{\"elapsed_seconds\": [0, 2.5]}"));
}

TEST_F(Report, LongCurvesAreThinnedAndSaySo) {
  std::string lines;
  for (int step = 1; step <= 1000; ++step) lines += concat("{\"step\":", step, ",\"loss\":1.5}\n");
  write_file_atomic(root_ / "pretrain" / "metrics.jsonl", lines);
  const Json curves = read_curves(root_ / "pretrain" / "metrics.jsonl", 100);
  EXPECT_LE(curves["steps"].size(), 101u);
  EXPECT_EQ(curves["steps"].back(), 1000);
  EXPECT_EQ(curves["note"], "curves show one of 10 steps");
}

TEST_F(Report, ShowsTheSameQuestionsBeforeAndAfter) {
  write_match(root_ / "pretrain", "before", false);
  write_match(root_ / "pretrain", "after", true);
  const Json match = read_match(root_ / "pretrain", 5, 10);
  ASSERT_EQ(match["questions"].size(), 10u);
  int sums = 0;
  for (const Json& question : match["questions"]) {
    const std::string number = question["question"].get<std::string>().substr(9);
    EXPECT_EQ(question["before"]["answer"], "before" + number);
    EXPECT_EQ(question["after"]["answer"], "after" + number);
    sums += question["task"] == "sum";
  }
  EXPECT_EQ(sums, 5);
  EXPECT_EQ(match, read_match(root_ / "pretrain", 5, 10));
  EXPECT_NE(match["questions"], read_match(root_ / "pretrain", 6, 10)["questions"]);
}

TEST_F(Report, JoinsRunsUnderOneSummary) {
  make_run(root_ / "sft");
  write_file_atomic(root_ / "summary.json", "{\"job_seconds\": 12.5}\n");
  ReportOptions options;
  options.summary = root_ / "summary.json";
  const Json data = carried(make_report({root_ / "pretrain", root_ / "sft"}, options));
  EXPECT_EQ(data["runs"].size(), 2u);
  EXPECT_EQ(data["summary"]["job_seconds"], 12.5);
}

TEST_F(Report, RunsOfTheSameNameAreToldApart) {
  make_run(root_ / "other" / "pretrain");
  const Json data = carried(make_report({root_ / "pretrain", root_ / "other" / "pretrain"}));
  EXPECT_NE(data["runs"][0]["name"], data["runs"][1]["name"]);
}

TEST_F(Report, RefusesWhatIsNoRun) {
  EXPECT_NE(error_of({root_ / "missing"}).find("missing: expected a run folder, got nothing"),
            std::string::npos);
  EXPECT_NE(error_of({root_}).find("without metrics.jsonl"), std::string::npos);
  EXPECT_NE(error_of({root_ / "pretrain" / "log.txt"}).find("got a file"), std::string::npos);
  EXPECT_NE(error_of({}).find("at least one"), std::string::npos);
  ReportOptions options;
  options.summary = root_ / "none.json";
  EXPECT_NE(error_of({root_ / "pretrain"}, options).find("none.json"), std::string::npos);
}

TEST_F(Report, WritesOneFile) {
  write_report({root_ / "pretrain"}, root_ / "pretrain" / "report.html");
  EXPECT_GT(fs::file_size(root_ / "pretrain" / "report.html"), 10000u);
}

}  // namespace
}  // namespace loongforge
