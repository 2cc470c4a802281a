// SPDX-License-Identifier: MIT
#include "device/device.hpp"

#include <utility>

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {

Devices& Devices::instance() {
  static Devices devices;
  return devices;
}

void Devices::add(std::unique_ptr<Device> device, int preference) {
  devices_.emplace(preference, std::move(device));
}

const Device* Devices::find(std::string_view id) const {
  for (const auto& [preference, device] : devices_) {
    if (device->id() == id) return device.get();
  }
  return nullptr;
}

const Device& Devices::preferred() const {
  std::string reasons;
  for (const auto& [preference, device] : devices_) {
    const auto reason = device->unavailable();
    if (!reason) return *device;
    reasons += fmt::format(" {}: {}", device->id(), *reason);
  }
  throw Error(ExitCode::environment, "No device can be used here." + reasons);
}

std::vector<const Device*> Devices::all() const {
  std::vector<const Device*> devices;
  for (const auto& [preference, device] : devices_) devices.push_back(device.get());
  return devices;
}

}  // namespace mprof
