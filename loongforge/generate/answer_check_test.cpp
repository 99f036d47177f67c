#include <gtest/gtest.h>

#include "loongforge/generate/match.h"

namespace loongforge {
namespace {

TEST(AnswerCheck, DefaultComparesExactlyAfterTrimming) {
  const AnswerCheck check;
  EXPECT_TRUE(answer_is_right(" 42\n", "42", check));
  EXPECT_FALSE(answer_is_right("The answer is 42", "42", check));
  EXPECT_FALSE(answer_is_right("Yes", "yes", check));
  EXPECT_FALSE(answer_is_right("a  b", "a b", check));
}

TEST(AnswerCheck, NothingIsDroppedWhenTrimIsOff) {
  AnswerCheck check;
  check.trim = false;
  EXPECT_FALSE(answer_is_right("42 ", "42", check));
  EXPECT_TRUE(answer_is_right("42 ", "42 ", check));
}

TEST(AnswerCheck, LastLineSkipsBlankLines) {
  AnswerCheck check;
  check.last_line = true;
  EXPECT_TRUE(answer_is_right("Let me think.\r\n17\r\n\n  \n", "17", check));
  EXPECT_FALSE(answer_is_right("17\nDone.", "17", check));
  EXPECT_TRUE(answer_is_right("17", "17", check));
}

TEST(AnswerCheck, TagTakesItsLastOccurrence) {
  AnswerCheck check;
  check.tag = "answer:";
  EXPECT_TRUE(answer_is_right("answer: 3?\nno. Answer: 4 \nbye", "4", check));
  EXPECT_TRUE(answer_is_right("ANSWER:4", "4", check));
  EXPECT_FALSE(answer_is_right("4", "4", check));
}

TEST(AnswerCheck, MissingTagIsWrongEvenForAnEmptyExpectation) {
  AnswerCheck check;
  check.tag = "answer:";
  bool found = true;
  EXPECT_EQ(normalise_answer("nothing", check, &found), "");
  EXPECT_FALSE(found);
  EXPECT_FALSE(answer_is_right("nothing", "", check));
  EXPECT_TRUE(answer_is_right("answer:", "", check));
}

TEST(AnswerCheck, CaseAndSpaceOnRequest) {
  AnswerCheck check;
  check.ignore_case = check.collapse_space = true;
  EXPECT_TRUE(answer_is_right("New \t York", "new york", check));
  EXPECT_TRUE(answer_is_right("Zürich", "zürich", check));
  EXPECT_FALSE(answer_is_right("newyork", "new york", check));
}

TEST(AnswerCheck, EmptyAnswer) {
  AnswerCheck check;
  check.last_line = true;
  EXPECT_FALSE(answer_is_right("", "1", check));
  EXPECT_EQ(normalise_answer(" \n\t", check), "");
}

}  // namespace
}  // namespace loongforge
