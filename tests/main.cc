#include <gtest/gtest.h>

#include <csignal>

int main(int argc, char** argv) {
  // A shell that starts something in the background may have it ignore these.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
