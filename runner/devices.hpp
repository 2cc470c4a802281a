// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "model/run.hpp"
#include "runner/coordinator.hpp"

/// One run on several devices of a host: a shard of its cases to each, measured at once where that disturbs
/// nothing, and merged.
namespace mprof {

/// Where the shares of a run's devices lie: devices/<id>.
inline constexpr const char* devices_folder = "devices";

/// Which of `present` a user named: "all", or numbers in their order and ids, with commas between. The
/// beginning of an id is enough. Throws Error(usage) for a name of no device or of several, and for a device
/// that is named twice. Throws it also for devices of several models, whose times do not belong in one run.
[[nodiscard]] std::vector<DeviceUnit> chosen_units(const std::string& list,
                                                   const std::vector<DeviceUnit>& present);

/// The devices of this machine of a kind that may have several. Throws Error(environment) without a device.
[[nodiscard]] std::vector<DeviceUnit> present_units(const Devices& devices);

/// The devices of a run that is resumed: each share goes on on the device that it began on. `named` are the
/// devices that the user names, or empty. Throws Error(usage) for other ones.
[[nodiscard]] std::vector<DeviceUnit> units_to_go_on_with(const Run& run,
                                                          const std::filesystem::path& directory,
                                                          std::vector<DeviceUnit> named);

/// What a worker is started with to see this device alone.
[[nodiscard]] std::vector<std::string> worker_on(const DeviceUnit& unit,
                                                 const std::vector<std::string>& command);

/// The CPUs of each unit where several are measured at the same time. `cores` are the cores to share, each
/// with its hardware threads. Each unit gets an equal part of the cores near it, and no core goes to two
/// units. All cores are shared instead where it is not known of each unit which are near, or where these
/// overlap. Empty where there are too few.
[[nodiscard]] std::vector<std::vector<int>> cpus_of_each(std::span<const DeviceUnit> units,
                                                         const std::vector<std::vector<int>>& cores);

/// The ids of the devices that the run in the directory was spread over; none when it was not, or is not
/// begun.
[[nodiscard]] std::vector<std::string> devices_of(const Run& run, const std::filesystem::path& directory);

/// As coordinate(), with a coordinator for each device, in threads. Each has a shard of the run; all cases of
/// a problem are in one shard, so that they compare. The shard has a result directory of its own,
/// devices/<id>. It stays, is resumed when it exists, and is merged into the run's. `earlier`: see
/// expected_costs().
///
/// With `shares_host` host times are taken at the same time too, each coordinator and its workers on CPUs of
/// their own (cpus_of_each()). The record then says that they are disturbed. Otherwise they are taken one at
/// a time. Throws what a coordinator throws, when all have ended.
void coordinate_devices(Run& run, const std::vector<DeviceUnit>& units, bool shares_host, const Run* earlier,
                        const CoordinatorContext& context);

}  // namespace mprof
