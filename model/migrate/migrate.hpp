// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "model/json_archive.hpp"

/// Records of older schema versions as this version has them: a function a version, on JSON. None of them is
/// surprised by a value of another type: it leaves what it does not understand, and the reader refuses it.
namespace mprof {

using json::Json;

/// The schema versions that a reader takes.
struct Versions {
  int oldest = 1;
  int newest = 1;
};

/// The schema version of a document. Throws Error(usage) that says what to do when it has none ("this is no
/// KIND"), or one that this mprof does not read. `name` is what messages call the document.
int require_version(const json::Value& document, const std::string& name, const std::string& kind,
                    Versions versions);

/// The text of run.json of any version in this one's form. Where it was written
/// before cases had files of their own, they stand in it, with their passes. Throws as json::Document and
/// require_version() do.
[[nodiscard]] json::Document newest_run(std::string text, const std::string& name, Allowance& allowance);
/// The same for the record of `mprof sanitize`.
[[nodiscard]] json::Document newest_sanitizer_record(std::string text, const std::string& name,
                                                     Allowance& allowance);

/// Version 1 knew one family: its problems were batches of images, its ops the layers of a network.
[[nodiscard]] Json migrate_1_to_2(Json run);
[[nodiscard]] Json migrate_sanitizer_1_to_2(Json record);

}  // namespace mprof
