# SPDX-License-Identifier: MIT
# Run after a test program was built: asks it for its suites and writes a CTest file in which each suite is a test. A process
# for each of a thousand cases would spend more time on starting than on testing, above all under the sanitizers.
#   cmake -DPROGRAM=... -DPREFIX=report. -DRESULTS=folder -DOUTPUT=file [-DPROPERTIES=...] -P test_suites.cmake
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed: ${failed}")
endif()
string(REGEX MATCHALL "(^|\n)[^ \n][^\n]*\\." suites "${listed}")
set(tests "")
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  if(suite MATCHES "^Running main")
    continue()
  endif()
  set(name ${PREFIX}${suite})
  string(REPLACE "/" "_" file ${name})
  string(APPEND tests
    "add_test([==[${name}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==] --gtest_brief=1 "
    "[==[--gtest_output=xml:${RESULTS}/${file}.xml]==])\n"
    "set_tests_properties([==[${name}]==] PROPERTIES ${PROPERTIES})\n")
endforeach()
if(NOT tests)
  message(FATAL_ERROR "${PROGRAM} has no tests")
endif()
file(WRITE ${OUTPUT} "${tests}")
