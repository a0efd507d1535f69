#include "server/engine/services/services.h"

#include <gtest/gtest.h>

#include <optional>

#include "server/engine/services/log_control.h"
#include "server/engine/services/migration.h"
#include "server/engine/services/no_services.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/snapshot_control.h"

namespace zsetd {
namespace {

class CountingMigration : public NoMigration {
 public:
  size_t cached_connections() const override { return 3; }
};

TEST(Services, AServiceIsUsedWhileItIsInstalled) {
  Services services;
  CountingMigration migration;
  EXPECT_EQ(services.migration->cached_connections(), 0u);
  {
    const Installation installation = services.migration.Install(migration);
    EXPECT_EQ(&*services.migration, &migration);
    EXPECT_EQ(services.migration->cached_connections(), 3u);
  }
  EXPECT_EQ(services.migration->cached_connections(), 0u);
}

TEST(Services, AMovedInstallationRestoresTheDefaultOnce) {
  Services services;
  CountingMigration migration;
  std::optional<Installation> kept;
  {
    Installation installation = services.migration.Install(migration);
    kept.emplace(std::move(installation));
  }
  EXPECT_EQ(&*services.migration, &migration);
  kept.reset();
  EXPECT_NE(&*services.migration, &migration);
}

TEST(Services, DefaultsDelayNoReplyAndHaveNoReplica) {
  Services services;
  EXPECT_GE(services.append_log->ReleasedPosition(), uint64_t{1} << 62);
  EXPECT_FALSE(services.append_log->MayBeLost(7));
  EXPECT_TRUE(services.replicas->replicas().empty());
  EXPECT_TRUE(services.snapshots->SaveBeforeExit(/*must_save=*/true, /*may_not=*/false).ok());
  EXPECT_FALSE(services.snapshots->Save().ok());
}

TEST(Services, DefaultsRefuseScripts) {
  Services services;
  EXPECT_FALSE(services.scripting->Available().ok());
  EXPECT_FALSE(services.scripting->LoadScript("return 1").ok());
  EXPECT_FALSE(services.scripting->Running().has_value());
}

}  // namespace
}  // namespace zsetd
