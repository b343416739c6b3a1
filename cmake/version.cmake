# cmake/version.cmake - writes generated/version.h: version, commit, compiler. Run again whenever HEAD moves.

execute_process(COMMAND git rev-parse --short HEAD
	WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
	OUTPUT_VARIABLE MUSTER_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
	RESULT_VARIABLE no_commit ERROR_QUIET)
if(no_commit)
	set(MUSTER_COMMIT unknown)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
	set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
		CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
endif()
string(TOLOWER ${CMAKE_C_COMPILER_ID} MUSTER_COMPILER)
string(REPLACE gnu gcc MUSTER_COMPILER ${MUSTER_COMPILER})
string(APPEND MUSTER_COMPILER " ${CMAKE_C_COMPILER_VERSION}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/version.h @ONLY)
