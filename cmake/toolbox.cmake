# cmake/toolbox.cmake - warnings, sanitizers, packages, the commit: what every target gets.

find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq>=4.3)
pkg_check_modules(CZMQ REQUIRED IMPORTED_TARGET libczmq>=4.2)
pkg_check_modules(MSGPACK REQUIRED IMPORTED_TARGET msgpack>=3.3)
pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET libevent_core>=2.1)
pkg_check_modules(EVENT_EXTRA REQUIRED IMPORTED_TARGET libevent_extra>=2.1)
pkg_check_modules(EVENT_SSL REQUIRED IMPORTED_TARGET libevent_openssl>=2.1)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat>=2.4)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.88)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson>=3.0)
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
if(MUSTER_TEST_ACTORS)
	pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
	set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
	set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

include(cmake/version.cmake)

add_library(muster_flags INTERFACE)
target_compile_options(muster_flags INTERFACE
	-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wvla -Wundef -Wwrite-strings
	-Wformat=2 -Wpointer-arith -fno-common -fstack-protector-strong
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>)
target_compile_definitions(muster_flags INTERFACE _GNU_SOURCE
	$<$<BOOL:${MUSTER_TEST_ACTORS}>:MUSTER_TEST_ACTORS=1>
	$<$<BOOL:${MUSTER_TAP}>:MUSTER_TAP=1>
	$<$<NOT:$<BOOL:${MUSTER_TAP}>>:MUSTER_TAP=0>)
target_include_directories(muster_flags INTERFACE
	${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/proto ${PROJECT_SOURCE_DIR}/actors/runtime
	${PROJECT_BINARY_DIR}/generated)
if(MUSTER_WERROR)
	target_compile_options(muster_flags INTERFACE -Werror)
endif()
if(MUSTER_SANITIZE)
	target_compile_options(muster_flags INTERFACE -fsanitize=address,undefined
		-fno-sanitize-recover=undefined -fno-omit-frame-pointer)
	target_link_options(muster_flags INTERFACE -fsanitize=address,undefined)
	target_compile_definitions(muster_flags INTERFACE MUSTER_SANITIZE=1)
endif()
if(MUSTER_FUZZ)
	target_compile_options(muster_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
		-fno-sanitize-recover=undefined -fno-omit-frame-pointer)
	target_link_options(muster_flags INTERFACE -fsanitize=address,undefined)
	target_compile_definitions(muster_flags INTERFACE MUSTER_SANITIZE=1)
endif()
if(MUSTER_COVERAGE)
	target_compile_options(muster_flags INTERFACE --coverage)
	target_link_options(muster_flags INTERFACE --coverage)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
	target_compile_options(muster_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
	target_link_options(muster_flags INTERFACE -Wl,-z,relro,-z,now -Wl,--as-needed)
endif()

# muster_library(name SOURCES... [LINK ...]); muster_program(name SOURCES... [LINK ...])
function(muster_library name)
	cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
	add_library(${name} STATIC ${A_SOURCES})
	target_link_libraries(${name} PUBLIC muster_flags ${A_LINK})
	set_property(GLOBAL APPEND PROPERTY muster_libraries ${name})
endfunction()

function(muster_program name)
	cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
	add_executable(${name} ${A_SOURCES})
	target_link_libraries(${name} PRIVATE ${A_LINK} muster_flags)
endfunction()
