/* assay.h - the whole public API. */
#ifndef ASSAY_H
#define ASSAY_H

#include <assay/advise.h>
#include <assay/api.h>
#include <assay/bench.h>
#include <assay/check.h>
#include <assay/compare.h>
#include <assay/device.h>
#include <assay/error.h>
#include <assay/inspect.h>
#include <assay/launch.h>
#include <assay/layer.h>
#include <assay/log.h>
#include <assay/measure.h>
#include <assay/metric.h>
#include <assay/monitor.h>
#include <assay/predict.h>
#include <assay/profile.h>
#include <assay/report.h>
#include <assay/run.h>
#include <assay/series.h>
#include <assay/sweep.h>
#include <assay/trial.h>
#include <assay/tune.h>

#endif
