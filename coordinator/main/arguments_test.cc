#include "coordinator/main/arguments.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(ArgumentsTest, EveryFlagIsRead) {
  const Parsed parsed = ParseArguments({"--listen",
                                        "127.0.0.1:0",
                                        "--state",
                                        "here",
                                        "--port-file",
                                        "port",
                                        "--log-level",
                                        "debug",
                                        "--reflection",
                                        "--lease",
                                        "1500ms",
                                        "--settle",
                                        "1s",
                                        "--attempt-deadline-min",
                                        "250ms",
                                        "--workers-max",
                                        "9",
                                        "--jobs-max",
                                        "3",
                                        "--events-max",
                                        "12",
                                        "--admin",
                                        "127.0.0.1:0",
                                        "--admin-port-file",
                                        "admin-port"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.text;
  const Arguments& arguments = *parsed.arguments;
  EXPECT_EQ(arguments.server.listen, "127.0.0.1:0");
  EXPECT_EQ(arguments.state, "here");
  EXPECT_EQ(arguments.port_file, "port");
  EXPECT_EQ(arguments.log_level, runtime::Severity::kDebug);
  EXPECT_TRUE(arguments.server.reflection);
  EXPECT_EQ(arguments.server.cluster.lease, absl::Milliseconds(1500));
  EXPECT_EQ(arguments.server.cluster.settle, absl::Seconds(1));
  EXPECT_EQ(arguments.server.cluster.attempt_deadline_min,
            absl::Milliseconds(250));
  EXPECT_EQ(arguments.server.cluster.workers_max, 9u);
  EXPECT_EQ(arguments.server.cluster.jobs_max, 3u);
  EXPECT_EQ(arguments.server.operators.events.events_max, 12u);
  EXPECT_EQ(arguments.admin, "127.0.0.1:0");
  EXPECT_EQ(arguments.admin_port_file, "admin-port");
}

TEST(ArgumentsTest, WithAnIdentityItListensAnywhere) {
  const Parsed files =
      ParseArguments({"--state", "x", "--listen", "0.0.0.0:7443", "--cert", "c",
                      "--key", "k", "--ca", "a", "--revoked", "r"});
  ASSERT_TRUE(files.arguments.has_value()) << files.text;
  ASSERT_TRUE(files.arguments->identity.has_value());
  EXPECT_EQ(files.arguments->identity->certificate, "c");
  EXPECT_EQ(files.arguments->identity->key, "k");
  EXPECT_EQ(files.arguments->identity->ca, "a");
  EXPECT_EQ(files.arguments->identity->revoked, "r");
  const Parsed folder =
      ParseArguments({"--state", "x", "--listen", "[::]:1", "--identity",
                      "here", "--admin", "0.0.0.0:2", "--admin-plaintext"});
  ASSERT_TRUE(folder.arguments.has_value()) << folder.text;
  EXPECT_EQ(folder.arguments->identity->certificate, "here/cert.pem");
  EXPECT_EQ(folder.arguments->identity->revoked, "here/revoked.txt");
  const Parsed plain = ParseArguments({"--state", "x"});
  ASSERT_TRUE(plain.arguments.has_value()) << plain.text;
  EXPECT_FALSE(plain.arguments->identity.has_value());
}

TEST(ArgumentsTest, QuotasMayBeRepeated) {
  const Parsed parsed =
      ParseArguments({"--state", "x", "--quota", "vision=2", "--quota", "*=1",
                      "--jobs-per-worker", "3"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.text;
  const ClusterOptions& cluster = parsed.arguments->server.cluster;
  EXPECT_EQ(cluster.quotas.size(), 2u);
  EXPECT_EQ(cluster.quotas.at("vision"), 2u);
  EXPECT_EQ(cluster.quotas.at(kEveryOtherOwner), 1u);
  EXPECT_EQ(cluster.seats_max, 3u);
}

TEST(ArgumentsTest, AWrongLineIsOneLineAndCodeTwo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {},
           {"--state", "x", "--lease", "10"},
           {"--state", "x", "--lease", "-1s"},
           {"--state", "x", "--lease", "inf"},
           {"--state", "x", "--lease", "soon"},
           {"--state", "x", "--listen", "0.0.0.0:7443"},
           {"--state", "x", "--listen", "example.org:7443"},
           {"--state", "x", "--admin", "0.0.0.0:9443"},
           {"--state", "x", "--cert", "c", "--key", "k"},
           {"--state", "x", "--ca", "a"},
           {"--state", "x", "--identity", "i", "--cert", "c", "--key", "k",
            "--ca", "a"},
           {"--state", "x", "--admin-plaintext"},
           {"--state", "x", "--admin-port-file", "file"},
           {"--state", "x", "--log-level", "loud"},
           {"--state", "x", "--workers-max", "many"},
           {"--state", "x", "--jobs-per-worker", "0"},
           {"--state", "x", "--quota", "vision"},
           {"--state", "x", "--quota", "=2"},
           {"--state", "x", "--quota", "vision=0"},
           {"--state", "x", "--quota", "vision=-1"},
           {"--state", "x", "--colour"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Parsed parsed = ParseArguments(words);
    EXPECT_FALSE(parsed.arguments.has_value());
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_THAT(parsed.text, EndsWith("(see skerry-coordinator --help)\n"));
    EXPECT_THAT(parsed.text.substr(0, parsed.text.size() - 1),
                Not(HasSubstr("\n")));
  }
}

TEST(ArgumentsTest, HelpNamesEveryFlagItsDefaultAndTheExitCodes) {
  const Parsed parsed = ParseArguments({"--help"});
  EXPECT_EQ(parsed.code, ExitCode::kStopped);
  for (const char* flag :
       {"--listen", "127.0.0.1:7443", "--state", "--port-file", "--log-level",
        "--reflection", "--lease", "10s", "--settle", "--attempt-deadline-min",
        "--workers-max", "--jobs-max", "--jobs-per-worker", "--quota",
        "--admin", "--version", "Exit codes"}) {
    EXPECT_THAT(parsed.text, HasSubstr(flag));
  }
}

}  // namespace
}  // namespace skerry::coordinator
