"""python_hta.py TRACE - Holistic Trace Analysis on one trace: parsing, idle time and kernel breakdown, in seconds, as JSON."""
import json
import logging
import os
import sys
import time

from hta.trace_analysis import TraceAnalysis

logging.disable(logging.CRITICAL)
path = os.path.abspath(sys.argv[1])
begin = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
parsed = time.perf_counter()
analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
end = time.perf_counter()
print(json.dumps({"parse_s": parsed - begin, "analyse_s": end - parsed, "seconds": end - begin}))
