// SPDX-License-Identifier: MIT
// The rooms of the house, and which others each may include: those in its list, and what those see in turn. Here alone the
// order is stated; CONTRIBUTING.md, "Where things are", says what each room is for. A folder that is not named belongs to
// the nearest one above it that is; `*` is any folder that is not named.
export const sees = {
  system: [],
  model: ["system"], // model/trace, model/derive and model/migrate are one room with it
  inputs: ["model"],
  device: ["model"],
  cuda: ["device"],
  plugin: [], // compiled with sources from outside, and knows them alone
  kernels: ["inputs", "plugin"], // the registry, and what a workload is
  "kernels/common": ["kernels", "cuda"],
  "kernels/*": ["kernels/common"], // a family: never another one
  collectors: ["device", "kernels"],
  "collectors/cuda": ["collectors", "cuda"],
  injection: ["cuda"], // of it headers alone: what programs load has nothing of mprof's libraries
  runner: ["collectors"],
  "report/text": ["model"],
  "report/trace": ["report/text"],
  "report/analysis": ["report/trace"],
  "report/wording": ["report/analysis"], // the one room with English
  "report/materials": ["report/wording"],
  "report/views": ["report/materials"],
  "report/page": ["report/views"],
  "report/export": ["report/wording"],
  "serve/judge": ["runner", "report/page"], // what programs ask, answered within bytes and seconds
  "serve/mcp": ["runner", "report/views"], // what agents ask; it measures in processes of its own
  cli: ["serve/judge", "serve/mcp", "runner", "report/page", "report/export", "inputs"],
};

/** Folders of sources that are no rooms: they include whatever they test. */
export const free = ["tests"];

/** Includes in quotes of what the build makes. */
export const generated = ["embedded"];
