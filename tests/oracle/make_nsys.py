#!/usr/bin/env python3
"""make_nsys.py - the fixtures of the importer of Nsight Systems.

    make_nsys.py small FILE          a few rows in every table that is read, with the columns that the documentation of the
                                     SQLite export lists (docs.nvidia.com, Nsight Systems, "SQLite Export Schema Reference")
    make_nsys.py trim EXPORT FILE    a real export without what the importer does not read: other tables, other processes,
                                     names of the machine, calls that only look up functions
"""
import os
import sqlite3
import sys

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
    gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
    bytes INTEGER NOT NULL, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    graphId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
    globalPid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT,
    globalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    nameId INTEGER NOT NULL);
"""
STRINGS = ["void gemm<float, 32>(int)", "gemm", "cudaLaunchKernel_v7000", "cudaDeviceSynchronize_v3020", "main thread",
           "loader", "epoch", "read", "cudaMemsetAsync_v3020", "cudaGraphLaunch_v10000"]


def global_id(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


def small(path):
    string = {text: number for number, text in enumerate(STRINGS, 1)}
    first, second = global_id(100), global_id(200)
    main, loader, other = global_id(100, 100), global_id(100, 101), global_id(200, 200)
    rows = {
        "StringIds": [(number, text) for text, number in string.items()],
        "TARGET_INFO_GPU": [(1, 0, "Example GPU", "0000:01:00.0")],
        "ThreadNames": [(string["loader"], 10, loader), (string["main thread"], 20, main), (string["loader"], 5, main)],
        "PROCESSES": [(first, 100, "python3"), (second, 200, "server")],
        "META_DATA_EXPORT": [("EXPORT_PRODUCT_VERSION", "2026.1.1")],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            (2000, 2700, 0, 1, 7, 11, first, string["void gemm<float, 32>(int)"], string["gemm"], 8, 4, 2, 128, 2, 1),
            (3000, 3100, 0, 1, 7, 11, second, 999, string["gemm"], 1, 1, 1, 32, 1, 1)],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [(2800, 2900, 0, 1, 7, 12, first, 4096, 1, 0, 2),
                                       (2900, 2950, 0, 1, 8, 13, first, 64, 2, 2, 1)],
        "CUPTI_ACTIVITY_KIND_MEMSET": [(1900, 1950, 0, 1, 7, 10, first, 0, 256, 2)],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [(5000, 5800, 0, 1, 1, 7, 14, first)],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [(4000, 4500, 0, 1, 7, 15, first, 4, 4294967295),
                                                (4600, 4601, 0, 1, 8, 16, first, 2, 3)],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            (1800, 1850, 0, main, 10, string["cudaMemsetAsync_v3020"], 0),
            (1860, 1890, 0, main, 11, string["cudaLaunchKernel_v7000"], 0),
            (3990, 4510, 0, main, 15, string["cudaDeviceSynchronize_v3020"], 0),
            (4700, 4750, 0, main, 14, string["cudaGraphLaunch_v10000"], 0),
            (2990, 2995, 0, other, 11, string["cudaLaunchKernel_v7000"], 0)],
        "NVTX_EVENTS": [(1000, 6000, 59, None, "step 1", main, None, 0), (1500, 1600, 60, 1, None, loader, string["epoch"], 0),
                        (1700, None, 34, None, "mark", main, None, 0), (1, None, 75, None, "domain", main, None, 1)],
        "OSRT_API": [(1100, 1400, 27, loader, string["read"])],
    }
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=1024")
    db.executescript(SCHEMA)
    for table, items in rows.items():
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(items[0]))})", items)
    db.commit()
    db.close()


KEPT = ["StringIds", "TARGET_INFO_SESSION_START_TIME", "TARGET_INFO_GPU", "ThreadNames", "PROCESSES", "META_DATA_EXPORT",
        "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"]


def trim(source, path):
    copy = path + ".whole"
    with open(source, "rb") as file, open(copy, "wb") as out:
        out.write(file.read())
    db = sqlite3.connect(copy)
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table not in KEPT:
            db.execute(f"DROP TABLE {table}")
    db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds WHERE"
               " value IN ('cuGetProcAddress_v2', 'cudaStreamCreateWithPriority_v5050'))")
    used = "SELECT DISTINCT globalTid >> 24 & 16777215 FROM CUPTI_ACTIVITY_KIND_RUNTIME"
    db.execute(f"DELETE FROM PROCESSES WHERE pid NOT IN ({used})")
    db.execute(f"DELETE FROM ThreadNames WHERE (globalTid >> 24 & 16777215) NOT IN ({used})")
    db.execute("DELETE FROM META_DATA_EXPORT WHERE name NOT IN ('EXPORT_PRODUCT_NAME', 'EXPORT_PRODUCT_VERSION',"
               " 'EXPORT_SCHEMA_VERSION')")
    db.execute("UPDATE TARGET_INFO_GPU SET uuid = '', busLocation = ''")
    db.execute("DELETE FROM StringIds WHERE id NOT IN (SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION"
               " SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL"
               " UNION SELECT nameId FROM ThreadNames)")
    db.commit()
    db.execute("PRAGMA page_size=1024")
    db.execute("VACUUM INTO ?", (path,))
    db.close()
    os.remove(copy)


def main():
    if os.path.exists(sys.argv[-1]):
        os.remove(sys.argv[-1])
    if sys.argv[1] == "small":
        small(sys.argv[2])
    else:
        trim(sys.argv[2], sys.argv[3])


main()
