/* assay.h - the whole public API. */
#ifndef ASSAY_H
#define ASSAY_H

#include <assay/api.h>
#include <assay/engine.h>
#include <assay/error.h>
#include <assay/log.h>
#include <assay/measure.h>
#include <assay/metric.h>
#include <assay/profile.h>
#include <assay/report.h>
#include <assay/run.h>

#endif
